import { displayNameOf } from '../access/subject-of.ts';
import { namedSizes, type BucketUsage } from '../observability/usage/usage.ts';
import { accessToBucket } from './bucket-access.ts';
import { adminPath } from './admin-path.ts';
import { effectivePolicy } from './effective-policy.ts';
import { callerSubject } from './own-account.ts';
import { type AdminAnswer, type AdminCall, json, type Route } from './route.ts';

export const accountRoutes: readonly Route[] = [
  // Whoever holds credentials may know whose they are, and what they can do: they could try.
  { method: 'GET', path: adminPath('accountinfo'), action: [], serve: accountInfo },
];

/** Erasure coding, as clients expect of a server; what is behind it here has one set with one drive. */
const backend = {
  Type: 2,
  GatewayOnline: false,
  OnlineDisks: null,
  OfflineDisks: null,
  StandardSCData: [1],
  StandardSCParities: null,
  RRSCData: [1],
  RRSCParities: null,
  TotalSets: [1],
  DrivesPerSet: [1],
  StandardSCParity: 0,
  RRSCParity: 0,
};

/** What the caller may do, and the buckets that they may read or write to, as they were counted last. */
async function accountInfo({ services, principal }: AdminCall): Promise<AdminAnswer> {
  const buckets: object[] = [];
  const usage = await services.usage?.last();
  const counted = new Map(usage?.buckets.map((bucket) => [bucket.bucket, bucket]));
  for (const { name, created } of await services.objects.listBuckets()) {
    const access = await accessToBucket(services.access, principal, name);
    if (!access.read && !access.write) continue;
    buckets.push({ ...stored(counted.get(name)), name, created: created.toISOString(), access });
  }
  const subject = callerSubject(principal);
  return json({
    AccountName: subject.kind === 'root' ? services.root.user : displayNameOf(principal),
    Server: backend,
    Policy: await effectivePolicy(services.identities, subject),
    Buckets: buckets.length === 0 ? null : buckets,
  });
}

/** Nothing of a bucket that was made since the last count. */
function stored(bucket: BucketUsage | undefined): object {
  return {
    size: bucket?.bytes ?? 0,
    objects: bucket?.objects ?? 0,
    versions: 0,
    deleteMarkers: 0,
    objectHistogram: bucket === undefined ? null : namedSizes(bucket.sizes),
    objectsVersionsHistogram: null,
    details: null,
    prefixUsage: null,
  };
}
