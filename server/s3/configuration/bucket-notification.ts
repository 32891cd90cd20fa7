import {
  maxNotificationDocument,
  parseNotification,
  writeNotification,
} from '../../../protocol/s3/bucket-notification.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { emptyAnswer, xmlAnswer } from '../answers.ts';
import type { Operation } from '../operation.ts';
import { header } from '../request.ts';
import { readDocument } from '../request-body.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketNotificationConfiguration.html */
export const getBucketNotification: Operation = {
  name: 'GetBucketNotificationConfiguration',
  setting: 'notification',
  action: 's3:GetBucketNotification',
  async handle(call) {
    return xmlAnswer(writeNotification(await call.objects.getBucketNotification(call.bucket)));
  },
};

const skipHeader = 'x-amz-skip-destination-validation';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketNotificationConfiguration.html */
export const putBucketNotification: Operation = {
  name: 'PutBucketNotificationConfiguration',
  setting: 'notification',
  action: 's3:PutBucketNotification',
  async handle(call) {
    const skip = header(call.request.headers, skipHeader)?.toLowerCase() ?? 'false';
    if (skip !== 'true' && skip !== 'false') {
      throw new S3Error('InvalidArgument', `${skipHeader} is true or false.`, {
        details: { ArgumentName: skipHeader, ArgumentValue: skip.slice(0, 100) },
      });
    }
    const { notificationTargets: targets, region } = call;
    const document = await readDocument(call, maxNotificationDocument);
    const rules = parseNotification(document, { targets, region });
    // The test event is how AWS validates a destination.
    await call.objects.putBucketNotification(call.bucket, rules, { test: skip === 'false', by: call });
    return emptyAnswer(200);
  },
};
