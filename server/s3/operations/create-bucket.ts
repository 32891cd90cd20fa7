import { parseCreateBucketConfiguration } from '../../../protocol/s3/create-bucket-configuration.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { emptyAnswer } from '../answers.ts';
import { header } from '../header.ts';
import type { Operation } from '../operation.ts';
import { readDocument } from '../request-body.ts';

const maxDocument = 64 * 1024;

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucket.html */
export const createBucket: Operation = {
  name: 'CreateBucket',
  action: 's3:CreateBucket',
  async handle(call) {
    if (header(call.request.headers, 'x-amz-bucket-object-lock-enabled')?.toLowerCase() === 'true') {
      throw new S3Error('NotImplemented', 'Buckets with Object Lock are not implemented.');
    }
    const { location } = parseCreateBucketConfiguration(await readDocument(call, maxDocument));
    if (location !== '' && location !== call.region) {
      throw new S3Error(
        'IllegalLocationConstraintException',
        `The location constraint "${location.slice(0, 100)}" is not valid here: this store is in "${call.region}".`,
      );
    }
    await call.objects.createBucket(call.bucket, { location: call.region });
    return emptyAnswer(200, { location: `/${call.bucket}` });
  },
};
