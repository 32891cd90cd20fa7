import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { checkRetentionChange } from '../attributes/object-lock.ts';
import { updateObject } from '../attributes/update-object.ts';
import type { ObjectContext } from '../context.ts';
import type { ObjectHeaders, ObjectLock, ReplicaAttributes, VersionResult } from '../object-layer.ts';
import { isTiered, type ObjectRecord, shownLock, storedLock } from '../records/object-record.ts';

/**
 * Gives a version the metadata, tags and lock that it has on another server. A change that is older than the last one here changes nothing.
 * Throws as `headObject`, `InvalidRequest` for a lock in a bucket without object lock, and `AccessDenied` where the change would weaken
 * COMPLIANCE.
 */
export function putReplicaAttributes(
  context: ObjectContext,
  { bucket, key, versionId, headers, tags, lock, changed, by }: ReplicaAttributes,
): Promise<VersionResult> {
  const version = { bucket, key, versionId, by, names: ['s3:ObjectCreated:Copy'], stays: true } as const;
  return updateObject(context, version, (record, { objectLock }) => {
    if (changed !== undefined && changed.getTime() < (record.replication?.changed ?? 0)) return record;
    if (lock !== undefined && objectLock === undefined) {
      throw new S3Error('InvalidRequest', 'Bucket is missing Object Lock Configuration');
    }
    const { tags: _tags, lock: _lock, ...rest } = record;
    const kept = storedLock(lockAfter(context, record, lock));
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

/** Throws `AccessDenied` where the new lock is weaker than COMPLIANCE. The caller may change GOVERNANCE, as on the other server. */
function lockAfter(context: ObjectContext, record: ObjectRecord, lock: ObjectLock = {}): ObjectLock {
  const before = shownLock(record.lock ?? {}).retention;
  const same = before?.mode === lock.retention?.mode && before?.until.getTime() === lock.retention?.until.getTime();
  if (same) return lock;
  checkRetentionChange(record, lock.retention, { now: context.lockClock.earliest(), bypassGovernance: true });
  return lock;
}
