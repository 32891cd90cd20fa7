import {
  maxLockDocument,
  parseObjectLockConfiguration,
  writeObjectLockConfiguration,
} from '../../../protocol/s3/object-lock.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { emptyAnswer, xmlAnswer } from '../answers.ts';
import type { Operation } from '../operation.ts';
import { readDocument } from '../request-body.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObjectLockConfiguration.html */
export const getObjectLockConfiguration: Operation = {
  name: 'GetObjectLockConfiguration',
  setting: 'objectLock',
  action: 's3:GetBucketObjectLockConfiguration',
  async handle(call) {
    const rule = await call.objects.getObjectLockConfiguration(call.bucket);
    if (rule !== undefined) return xmlAnswer(writeObjectLockConfiguration(rule));
    throw new S3Error('ObjectLockConfigurationNotFoundError', undefined, { details: { BucketName: call.bucket } });
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObjectLockConfiguration.html */
export const putObjectLockConfiguration: Operation = {
  name: 'PutObjectLockConfiguration',
  setting: 'objectLock',
  action: 's3:PutBucketObjectLockConfiguration',
  async handle(call) {
    const rule = parseObjectLockConfiguration(await readDocument(call, maxLockDocument));
    await call.objects.putObjectLockConfiguration(call.bucket, rule);
    return emptyAnswer(200);
  },
};
