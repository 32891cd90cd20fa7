import {
  type BucketUsage,
  namedSizes,
  namedVersionCounts,
  type StoredSums,
  type Usage,
} from '../observability/usage/usage.ts';
import { type UsageReader } from '../observability/usage/usage-record.ts';
import { storageState } from './storage.ts';
import { adminPath, cofferPath, type AdminAnswer, type AdminCall, json, type Route } from './call.ts';
import type { AdminServices } from '../administration/services.ts';
import { MaintenanceError } from '../maintenance/maintenance-error.ts';
import { adminError } from '../administration/admin-error.ts';

export const usageRoutes: readonly Route[] = [
  { method: 'GET', path: adminPath('datausageinfo'), action: 'admin:DataUsageInfo', serve: dataUsageInfo },
  {
    method: 'GET',
    path: cofferPath('usage'),
    action: 'admin:DataUsageInfo',
    serve: async ({ services }) => json({ usage: shownUsage(await reader(services).last()) }),
  },
  // MinIO has no call for this; its scanner has its own schedule.
  { method: 'POST', path: cofferPath('usage'), action: 'admin:DataUsageInfo', slow: true, serve: countNow },
];

/** Data usage in MinIO's format. Before the first count it has the capacity alone. */
async function dataUsageInfo({ services }: AdminCall): Promise<AdminAnswer> {
  const [usage, { space }] = await Promise.all([services.usage?.last(), storageState(services)]);
  const buckets = usage?.buckets ?? [];
  return json({
    // Clients read Go's zero time as "nothing was counted yet".
    lastUpdate: usage === undefined ? '0001-01-01T00:00:00Z' : new Date(usage.ended).toISOString(),
    ...(usage && {
      objectsCount: usage.objects,
      versionsCount: usage.versions,
      deleteMarkersCount: usage.deleteMarkers,
      objectsTotalSize: usage.bytes,
      bucketsCount: buckets.length,
    }),
    bucketsUsageInfo: Object.fromEntries(buckets.map((bucket) => [bucket.bucket, bucketUsageInfo(bucket)])),
    bucketsSizes: Object.fromEntries(buckets.map(({ bucket, bytes }) => [bucket, bytes])),
    ...(space && { capacity: space.total, freeCapacity: space.free, usedCapacity: space.total - space.free }),
  });
}

function bucketUsageInfo(usage: BucketUsage) {
  const { objects, bytes, versions, deleteMarkers, sizes } = usage;
  return {
    size: bytes,
    objectsCount: objects,
    versionsCount: versions,
    deleteMarkersCount: deleteMarkers,
    objectsSizesHistogram: namedSizes(sizes),
    objectsVersionsHistogram: namedVersionCounts(usage),
  };
}

async function countNow({ services }: AdminCall): Promise<AdminAnswer> {
  try {
    return json({ usage: shownUsage(await reader(services).countNow(services.stopping)) });
  } catch (error) {
    if (error instanceof MaintenanceError) throw adminError('XCofferRefused', error.message, { cause: error });
    throw error;
  }
}

/** Null before the first count. */
function shownUsage(usage: Usage | undefined): object | null {
  if (usage === undefined) return null;
  const { began, ended, unreadable, buckets, ...sums } = usage;
  return {
    began: new Date(began).toISOString(),
    ended: new Date(ended).toISOString(),
    ...shownSums(sums),
    unreadable,
    buckets: buckets.map((stored) => ({ bucket: stored.bucket, ...shownSums(stored) })),
  };
}

function shownSums({ sizes, ...sums }: StoredSums): object {
  const { objects, bytes, versions, deleteMarkers, uploads, uploadBytes } = sums;
  return { objects, bytes, versions, deleteMarkers, uploads, uploadBytes, sizes: namedSizes(sizes) };
}

function reader({ usage }: AdminServices): UsageReader {
  if (usage !== undefined) return usage;
  throw adminError('XCofferRefused', 'This server does not count what it stores.');
}
