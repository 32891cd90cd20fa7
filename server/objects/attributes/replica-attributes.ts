import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { commitChange } from '../commit/commit-change.ts';
import { getBucket } from '../records/bucket-record.ts';
import { onlyEndUploads } from '../replication/end-other-uploads.ts';
import { updateObject } from './update-object.ts';
import type { ObjectContext } from '../context/context.ts';
import type { ReplicaAttributes, VersionResult } from '../contract/object-layer.ts';
import { joinReplica } from '../replication/join-replica.ts';
import { NULL_VERSION } from '../versions/find-version.ts';

/**
 * Joins the metadata, tags and lock of a version with those that it has on another server. Throws as `headObject`, `InvalidRequest` for a
 * lock in a bucket without object lock, `AccessDenied` where the change would weaken COMPLIANCE, or where the sender may not make it, and
 * `NoSuchVersion` for a null version of another time: it is another version. A sender that has found the version here completes none of its
 * uploads, which end therefore.
 */
export async function putReplicaAttributes(
  context: ObjectContext,
  { bucket, key, versionId, by, ...arriving }: ReplicaAttributes,
): Promise<VersionResult> {
  const names = ['s3:ObjectCreated:Copy'];
  const isNewest = await context.written.isNewest();
  const version = { bucket, key, versionId, by, names, stays: true } as const;
  const result = await updateObject(context, version, (record, { objectLock }) => {
    if (versionId === NULL_VERSION && record.modified !== arriving.modified.getTime()) {
      throw new S3Error('NoSuchVersion', undefined, { details: { Key: key, VersionId: versionId } });
    }
    if (arriving.lock !== undefined && objectLock === undefined) {
      throw new S3Error('InvalidRequest', 'Bucket is missing Object Lock Configuration');
    }
    const keepsTimes = isNewest || record.changes !== undefined;
    return joinReplica(record, arriving, { now: context.lockClock.earliest(), keepsTimes });
  });
  await commitChange(context, async () => {
    const place = { bucket, key, stored: await getBucket(context.records, bucket) };
    return onlyEndUploads(context, place, { versionId, modified: arriving.modified.getTime() });
  });
  return result;
}
