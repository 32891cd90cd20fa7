import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { maxTaggingDocument, parseTagging, writeTagging } from '../../../protocol/s3/tagging.ts';
import { emptyAnswer, xmlAnswer } from '../answers.ts';
import type { Operation } from '../operation.ts';
import { readDocument } from '../request-body.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketTagging.html */
export const getBucketTagging: Operation = {
  name: 'GetBucketTagging',
  setting: 'tags',
  action: 's3:GetBucketTagging',
  async handle(call) {
    const tags = await call.objects.getBucketTags(call.bucket);
    if (tags === undefined) throw new S3Error('NoSuchTagSet', undefined, { details: { BucketName: call.bucket } });
    return xmlAnswer(writeTagging(tags));
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketTagging.html */
export const putBucketTagging: Operation = {
  name: 'PutBucketTagging',
  setting: 'tags',
  action: 's3:PutBucketTagging',
  async handle(call) {
    const tags = parseTagging(await readDocument(call, maxTaggingDocument));
    if (Object.keys(tags).length === 0) await call.objects.deleteBucketTags(call.bucket);
    else await call.objects.putBucketTags(call.bucket, tags);
    return emptyAnswer(200);
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteBucketTagging.html */
export const deleteBucketTagging: Operation = {
  name: 'DeleteBucketTagging',
  setting: 'tags',
  action: 's3:PutBucketTagging',
  async handle(call) {
    await call.objects.deleteBucketTags(call.bucket);
    return emptyAnswer(204);
  },
};
