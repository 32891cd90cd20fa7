import { S3Error, type S3ErrorCode } from '../../../protocol/s3/s3-error.ts';
import type { Operation } from '../operation.ts';

/**
 * Answers for a configuration that this server does not support. Clients ask for each of them when they show a bucket. They need the answer
 * or error by which S3 reports that none is set, instead of NotImplemented.
 */
function bucketHasNone(name: string, action: string, none: S3ErrorCode): Operation {
  return {
    name,
    action,
    async handle(call) {
      await call.objects.headBucket(call.bucket);
      throw new S3Error(none);
    },
  };
}

export const getBucketReplication = bucketHasNone(
  'GetBucketReplication',
  's3:GetReplicationConfiguration',
  'ReplicationConfigurationNotFoundError',
);
