import { adminPath } from './admin-path.ts';
import { AdminError } from './admin-error.ts';
import { bucketArchiveLimits } from './bucket-archive.ts';
import { exportBuckets } from './export-buckets.ts';
import { importBuckets } from './import-buckets.ts';
import { nowOf } from './now.ts';
import { type AdminAnswer, type AdminCall, json, type Route } from './route.ts';
import type { AdminServices } from './services.ts';
import { readZip, ZipError } from './zip/read-zip.ts';
import type { ZipEntry } from './zip/zip-format.ts';

/** Bytes, packed. */
const longestArchive = 16 * 1024 * 1024;

/** `mc admin cluster bucket export|import`: what is set for buckets, not what is in them. */
export const bucketArchiveRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: adminPath('export-bucket-metadata'),
    action: 'admin:ExportBucketMetadata',
    async serve({ services, query }) {
      const bytes = await exportBuckets(bucketsOf(services), query.get('bucket') || undefined, nowOf(services));
      return { kind: 'bytes', bytes, contentType: 'application/zip' };
    },
  },
  {
    method: 'PUT',
    path: adminPath('import-bucket-metadata'),
    action: 'admin:ImportBucketMetadata',
    serve: imported,
  },
];

async function imported(call: AdminCall): Promise<AdminAnswer> {
  const entries = unpacked(await call.body(longestArchive));
  const { server } = call.services;
  const only = call.query.get('bucket') || undefined;
  const buckets = await importBuckets(bucketsOf(call.services), entries, {
    only,
    region: server.region,
    require: (action, bucket) => call.require(action, bucket),
  });
  if (Object.keys(buckets).length === 0) throw refused(only === undefined ? 'it holds no bucket' : `it has no ${only}`);
  return json({ buckets });
}

function bucketsOf({ buckets }: AdminServices): NonNullable<AdminServices['buckets']> {
  if (buckets !== undefined) return buckets;
  throw new AdminError('XCofferRefused', 'This server moves no buckets.');
}

function unpacked(bytes: Buffer): ZipEntry[] {
  try {
    return readZip(bytes, bucketArchiveLimits);
  } catch (error) {
    if (error instanceof ZipError) throw refused(error.message, error);
    throw error;
  }
}

function refused(why: string, cause?: unknown): AdminError {
  return new AdminError('XCofferInvalidRequest', `The archive cannot be imported: ${why}.`, { cause });
}
