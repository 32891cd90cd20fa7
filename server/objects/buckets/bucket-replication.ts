import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { ReplicationConfiguration } from '../../../protocol/s3/bucket-replication.ts';
import { changeBucket } from './bucket-configuration.ts';
import type { ObjectContext } from '../context/context.ts';
import { noSuchBucket } from '../records/bucket-record.ts';
import { recordKeys } from '../records/record-format.ts';

export async function getBucketReplication(
  context: ObjectContext,
  bucket: string,
): Promise<ReplicationConfiguration | undefined> {
  // Each delivery asks.
  const entry = await context.records.get(recordKeys.bucket(bucket));
  if (entry === undefined) throw noSuchBucket(bucket);
  return context.buckets.decode(entry, bucket).record.replication;
}

/** Without `replication` it removes the configuration. Throws `InvalidRequest` for a bucket without versions. */
export function putBucketReplication(
  context: ObjectContext,
  bucket: string,
  replication: ReplicationConfiguration | undefined,
): Promise<void> {
  return changeBucket(context, bucket, ({ replication: _replication, ...record }) => {
    if (replication === undefined) return record;
    if (record.versioning?.status !== 'Enabled') {
      throw new S3Error(
        'InvalidRequest',
        "Versioning must be 'Enabled' on the bucket to apply a replication configuration",
      );
    }
    return { ...record, replication };
  });
}
