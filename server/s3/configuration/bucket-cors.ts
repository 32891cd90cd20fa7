import { maxCorsDocument, parseCors, writeCors } from '../../../protocol/s3/bucket-cors.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { emptyAnswer, xmlAnswer } from '../answers.ts';
import type { Operation } from '../operation.ts';
import { readDocument } from '../request-body.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketCors.html */
export const getBucketCors: Operation = {
  name: 'GetBucketCors',
  setting: 'cors',
  action: 's3:GetBucketCORS',
  async handle(call) {
    const rules = await call.objects.getBucketCors(call.bucket);
    if (rules === undefined) {
      throw new S3Error('NoSuchCORSConfiguration', undefined, { details: { BucketName: call.bucket } });
    }
    return xmlAnswer(writeCors(rules));
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketCors.html */
export const putBucketCors: Operation = {
  name: 'PutBucketCors',
  setting: 'cors',
  action: 's3:PutBucketCORS',
  async handle(call) {
    const rules = parseCors(await readDocument(call, maxCorsDocument));
    await call.objects.putBucketCors(call.bucket, rules);
    return emptyAnswer(200);
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteBucketCors.html */
export const deleteBucketCors: Operation = {
  name: 'DeleteBucketCors',
  setting: 'cors',
  action: 's3:PutBucketCORS',
  async handle(call) {
    await call.objects.deleteBucketCors(call.bucket);
    return emptyAnswer(204);
  },
};
