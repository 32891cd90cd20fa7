import { maxWebsiteDocument, parseWebsite, writeWebsite } from '../../../protocol/s3/bucket-website.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { emptyAnswer, xmlAnswer } from '../answers.ts';
import type { Operation } from '../operation.ts';
import { readDocument } from '../request-body.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketWebsite.html */
export const getBucketWebsite: Operation = {
  name: 'GetBucketWebsite',
  setting: 'website',
  action: 's3:GetBucketWebsite',
  async handle(call) {
    const website = await call.objects.getBucketWebsite(call.bucket);
    if (website === undefined) {
      throw new S3Error('NoSuchWebsiteConfiguration', undefined, { details: { BucketName: call.bucket } });
    }
    return xmlAnswer(writeWebsite(website));
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketWebsite.html */
export const putBucketWebsite: Operation = {
  name: 'PutBucketWebsite',
  setting: 'website',
  action: 's3:PutBucketWebsite',
  async handle(call) {
    const website = parseWebsite(await readDocument(call, maxWebsiteDocument));
    await call.objects.putBucketWebsite(call.bucket, website);
    return emptyAnswer(200);
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteBucketWebsite.html */
export const deleteBucketWebsite: Operation = {
  name: 'DeleteBucketWebsite',
  setting: 'website',
  action: 's3:DeleteBucketWebsite',
  async handle(call) {
    await call.objects.putBucketWebsite(call.bucket, undefined);
    return emptyAnswer(204);
  },
};
