import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { updateObject } from './update-object.ts';
import type { ObjectContext } from '../context/context.ts';
import type { ReplicaAttributes, VersionResult } from '../contract/object-layer.ts';
import { joinReplica } from '../replication/join-replica.ts';
import { NULL_VERSION } from '../versions/find-version.ts';

/**
 * Joins the metadata, tags and lock of a version with those that it has on another server. Throws as `headObject`, `InvalidRequest` for a
 * lock in a bucket without object lock, `AccessDenied` where the change would weaken COMPLIANCE, or where the sender may not make it, and
 * `NoSuchVersion` for a null version of another time: it is another version.
 */
export async function putReplicaAttributes(
  context: ObjectContext,
  { bucket, key, versionId, by, ...arriving }: ReplicaAttributes,
): Promise<VersionResult> {
  const names = ['s3:ObjectCreated:Copy'];
  const isNewest = await context.written.isNewest();
  return updateObject(context, { bucket, key, versionId, by, names, stays: true }, (record, { objectLock }) => {
    if (versionId === NULL_VERSION && record.modified !== arriving.modified.getTime()) {
      throw new S3Error('NoSuchVersion', undefined, { details: { Key: key, VersionId: versionId } });
    }
    if (arriving.lock !== undefined && objectLock === undefined) {
      throw new S3Error('InvalidRequest', 'Bucket is missing Object Lock Configuration');
    }
    const keepsTimes = isNewest || record.changes !== undefined;
    return joinReplica(record, arriving, { now: context.lockClock.earliest(), keepsTimes });
  });
}
