import { isDeepStrictEqual } from 'node:util';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { checkRetentionChange } from '../attributes/object-lock.ts';
import { updateObject } from '../attributes/update-object.ts';
import type { ObjectContext } from '../context.ts';
import type { ObjectHeaders, ObjectLock, ReplicaAttributes, VersionResult } from '../object-layer.ts';
import { isTiered, type ObjectRecord, shownLock, storedLock } from '../records/object-record.ts';

/**
 * Gives a version the metadata, tags and lock that it has on another server. A change that is older than the last one here changes nothing.
 * Throws as `headObject`, `InvalidRequest` for a lock in a bucket without object lock, and `AccessDenied` where the change would weaken
 * COMPLIANCE, or where the sender may not make it.
 */
export function putReplicaAttributes(
  context: ObjectContext,
  { bucket, key, versionId, headers, tags, lock, changed, may, by }: ReplicaAttributes,
): Promise<VersionResult> {
  const version = { bucket, key, versionId, by, names: ['s3:ObjectCreated:Copy'], stays: true } as const;
  return updateObject(context, version, (record, { objectLock }) => {
    if (changed !== undefined && changed.getTime() < (record.replication?.changed ?? 0)) return record;
    if (lock !== undefined && objectLock === undefined) {
      throw new S3Error('InvalidRequest', 'Bucket is missing Object Lock Configuration');
    }
    const { tags: before = {}, lock: _lock, ...rest } = record;
    if (!may.tags && !isDeepStrictEqual(before, tags)) throw new S3Error('AccessDenied');
    const kept = storedLock(lockAfter(context, record, lock, may));
    return {
      ...rest,
      headers: inTier(record, headers),
      ...(Object.keys(tags).length > 0 && { tags }),
      ...(Object.keys(kept).length > 0 && { lock: kept }),
      replication: { status: 'REPLICA', ...record.replication, ...(changed && { changed: changed.getTime() }) },
    };
  });
}

/** The storage class of a body in a tier is the name of the tier, whatever the other server says. */
function inTier(record: ObjectRecord, headers: ObjectHeaders): ObjectHeaders {
  const { storageClass } = record.headers;
  return isTiered(record) && storageClass !== undefined ? { ...headers, storageClass } : headers;
}

/** Throws `AccessDenied` where the new lock is weaker than COMPLIANCE, and where the sender may not change it so. */
function lockAfter(
  context: ObjectContext,
  record: ObjectRecord,
  lock: ObjectLock = {},
  may: ReplicaAttributes['may'],
): ObjectLock {
  const before = shownLock(record.lock ?? {});
  // No legal hold is one that is off.
  if (!may.legalHold && (before.legalHold ?? false) !== (lock.legalHold ?? false)) throw new S3Error('AccessDenied');
  if (isDeepStrictEqual(before.retention, lock.retention)) return lock;
  if (!may.retention) throw new S3Error('AccessDenied');
  const { bypassGovernance } = may;
  checkRetentionChange(record, lock.retention, { now: context.lockClock.earliest(), bypassGovernance });
  return lock;
}
