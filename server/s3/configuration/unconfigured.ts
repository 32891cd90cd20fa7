import { S3Error, type S3ErrorCode } from '../../../protocol/s3/s3-error.ts';
import { xmlDocument, type Xml } from '../../../protocol/s3/xml-writer.ts';
import { xmlAnswer } from '../answers.ts';
import type { Operation } from '../operation.ts';

/**
 * Answers for a configuration that this server does not support. Clients ask for each of them when they show a bucket. They need the answer
 * or error by which S3 reports that none is set, instead of NotImplemented.
 */
function bucketHasNone(name: string, action: string, none: S3ErrorCode | (() => string)): Operation {
  return {
    name,
    action,
    async handle(call) {
      await call.objects.headBucket(call.bucket);
      if (typeof none === 'string') throw new S3Error(none);
      return xmlAnswer(none());
    },
  };
}

const empty = (root: string, children: readonly Xml[] = []) => xmlDocument(root, children);

export const getBucketReplication = bucketHasNone(
  'GetBucketReplication',
  's3:GetReplicationConfiguration',
  'ReplicationConfigurationNotFoundError',
);
export const getBucketLogging = bucketHasNone('GetBucketLogging', 's3:GetBucketLogging', () =>
  empty('BucketLoggingStatus'),
);
