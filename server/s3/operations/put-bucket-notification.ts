import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { readXml } from '../../../protocol/s3/xml-reader.ts';
import { emptyAnswer } from '../answers.ts';
import type { Operation } from '../operation.ts';
import { readDocument } from '../request-body.ts';

const maxBytes = 64 * 1024;

/**
 * Clears the configuration, which is always empty: clients do so before they set one, and when they give a bucket up.
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
