import {
  type LifecycleRule,
  maxLifecycleDocument,
  parseLifecycle,
  writeLifecycle,
} from '../../../protocol/s3/lifecycle/bucket-lifecycle.ts';
import {
  parseTransitionMinimum,
  transitionMinimumHeader,
  transitionMinimumOf,
  withTransitionMinimum,
} from '../../../protocol/s3/lifecycle/transition-minimum.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { emptyAnswer, xmlAnswer } from '../answers.ts';
import type { Operation } from '../operation.ts';
import { header } from '../request.ts';
import { readDocument } from '../request-body.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketLifecycleConfiguration.html */
export const getBucketLifecycle: Operation = {
  name: 'GetBucketLifecycleConfiguration',
  setting: 'lifecycle',
  action: 's3:GetLifecycleConfiguration',
  async handle(call) {
    const rules = await call.objects.getBucketLifecycle(call.bucket);
    if (rules === undefined) {
      throw new S3Error('NoSuchLifecycleConfiguration', undefined, { details: { BucketName: call.bucket } });
    }
    return xmlAnswer(writeLifecycle(rules), minimumHeader(rules));
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketLifecycleConfiguration.html */
export const putBucketLifecycle: Operation = {
  name: 'PutBucketLifecycleConfiguration',
  setting: 'lifecycle',
  action: 's3:PutLifecycleConfiguration',
  async handle(call) {
    const minimum = parseTransitionMinimum(header(call.request.headers, transitionMinimumHeader));
    const parsed = parseLifecycle(await readDocument(call, maxLifecycleDocument));
    const rules = withTransitionMinimum(parsed, minimum);
    await call.objects.putBucketLifecycle(call.bucket, rules);
    return emptyAnswer(200, minimumHeader(rules));
  },
};

function minimumHeader(rules: readonly LifecycleRule[]): Readonly<Record<string, string>> {
  return { [transitionMinimumHeader]: transitionMinimumOf(rules) };
}

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteBucketLifecycle.html */
export const deleteBucketLifecycle: Operation = {
  name: 'DeleteBucketLifecycle',
  setting: 'lifecycle',
  action: 's3:PutLifecycleConfiguration',
  async handle(call) {
    await call.objects.deleteBucketLifecycle(call.bucket);
    return emptyAnswer(204);
  },
};
