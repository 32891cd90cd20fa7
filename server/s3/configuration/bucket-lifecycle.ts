import {
  maxLifecycleDocument,
  parseLifecycle,
  writeLifecycle,
} from '../../../protocol/s3/lifecycle/bucket-lifecycle.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { emptyAnswer, xmlAnswer } from '../answers.ts';
import type { Operation } from '../operation.ts';
import { readDocument } from '../request-body.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketLifecycleConfiguration.html */
export const getBucketLifecycle: Operation = {
  name: 'GetBucketLifecycleConfiguration',
  action: 's3:GetLifecycleConfiguration',
  async handle(call) {
    const rules = await call.objects.getBucketLifecycle(call.bucket);
    if (rules === undefined) {
      throw new S3Error('NoSuchLifecycleConfiguration', undefined, { details: { BucketName: call.bucket } });
    }
    return xmlAnswer(writeLifecycle(rules));
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketLifecycleConfiguration.html */
export const putBucketLifecycle: Operation = {
  name: 'PutBucketLifecycleConfiguration',
  action: 's3:PutLifecycleConfiguration',
  async handle(call) {
    const rules = parseLifecycle(await readDocument(call, maxLifecycleDocument));
    await call.objects.putBucketLifecycle(call.bucket, rules);
    return emptyAnswer(200);
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteBucketLifecycle.html */
export const deleteBucketLifecycle: Operation = {
  name: 'DeleteBucketLifecycle',
  action: 's3:PutLifecycleConfiguration',
  async handle(call) {
    await call.objects.deleteBucketLifecycle(call.bucket);
    return emptyAnswer(204);
  },
};
