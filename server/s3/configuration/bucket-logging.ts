import { maxLoggingDocument, parseLogging, writeLogging } from '../../../protocol/s3/bucket-logging.ts';
import { logRights } from '../../auth/deferred-rights.ts';
import { emptyAnswer, xmlAnswer } from '../answers.ts';
import type { Operation } from '../operation.ts';
import { readDocument } from '../request-body.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketLogging.html */
export const getBucketLogging: Operation = {
  name: 'GetBucketLogging',
  setting: 'logging',
  action: 's3:GetBucketLogging',
  async handle(call) {
    return xmlAnswer(writeLogging(await call.objects.getBucketLogging(call.bucket)));
  },
};

/**
 * The caller must be allowed to write every object that a log could be: else logs would be a way to write into any bucket.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketLogging.html
 */
export const putBucketLogging: Operation = {
  name: 'PutBucketLogging',
  setting: 'logging',
  action: 's3:PutBucketLogging',
  async handle(call) {
    const logging = parseLogging(await readDocument(call, maxLoggingDocument));
    if (logging !== undefined) await call.requireAll(logRights(logging));
    await call.objects.putBucketLogging(call.bucket, logging);
    return emptyAnswer(200);
  },
};
