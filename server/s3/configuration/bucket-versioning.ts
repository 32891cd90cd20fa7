import { maxVersioningDocument, parseVersioning, writeVersioning } from '../../../protocol/s3/bucket-versioning.ts';
import { emptyAnswer, xmlAnswer } from '../answers.ts';
import type { Operation } from '../operation.ts';
import { readDocument } from '../request-body.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketVersioning.html */
export const getBucketVersioning: Operation = {
  name: 'GetBucketVersioning',
  setting: 'versioning',
  action: 's3:GetBucketVersioning',
  async handle(call) {
    return xmlAnswer(writeVersioning(await call.objects.getBucketVersioning(call.bucket)));
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketVersioning.html */
export const putBucketVersioning: Operation = {
  name: 'PutBucketVersioning',
  setting: 'versioning',
  action: 's3:PutBucketVersioning',
  async handle(call) {
    const versioning = parseVersioning(await readDocument(call, maxVersioningDocument));
    await call.objects.putBucketVersioning(call.bucket, versioning);
    return emptyAnswer(200);
  },
};
