import { S3Error, type S3ErrorCode } from '../../../protocol/s3/s3-error.ts';
import { element, xmlDocument, type Xml } from '../../../protocol/s3/xml-writer.ts';
import { xmlAnswer, emptyAnswer } from '../answers.ts';
import type { Operation } from '../operation.ts';
import { readXml } from '../../../protocol/s3/xml-reader.ts';
import { readDocument } from '../request-body.ts';

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

export const getBucketWebsite = bucketHasNone('GetBucketWebsite', 's3:GetBucketWebsite', 'NoSuchWebsiteConfiguration');
export const getBucketReplication = bucketHasNone(
  'GetBucketReplication',
  's3:GetReplicationConfiguration',
  'ReplicationConfigurationNotFoundError',
);
export const getBucketNotification = bucketHasNone(
  'GetBucketNotificationConfiguration',
  's3:GetBucketNotification',
  () => empty('NotificationConfiguration'),
);
export const getBucketLogging = bucketHasNone('GetBucketLogging', 's3:GetBucketLogging', () =>
  empty('BucketLoggingStatus'),
);
export const getBucketAccelerate = bucketHasNone(
  'GetBucketAccelerateConfiguration',
  's3:GetAccelerateConfiguration',
  () => empty('AccelerateConfiguration'),
);
export const getBucketRequestPayment = bucketHasNone('GetBucketRequestPayment', 's3:GetBucketRequestPayment', () =>
  empty('RequestPaymentConfiguration', [element('Payer', 'BucketOwner')]),
);
const maxBytes = 64 * 1024;

/**
 * Clears the configuration, which is always empty. Clients do so before they set one, and before they delete a bucket.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketNotificationConfiguration.html
 */
export const putBucketNotification: Operation = {
  name: 'PutBucketNotificationConfiguration',
  action: 's3:PutBucketNotification',
  async handle(call) {
    const document = readXml(await readDocument(call, maxBytes), { maxBytes, root: 'NotificationConfiguration' });
    await call.objects.headBucket(call.bucket);
    const [first] = document.children;
    if (first === undefined) return emptyAnswer(200);
    throw new S3Error('NotImplemented', `Notifications of buckets (${first.name.slice(0, 64)}) are not implemented.`);
  },
};
