import { parseBucketEncryption, writeBucketEncryption } from '../../../protocol/s3/bucket-encryption.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { emptyAnswer, xmlAnswer } from '../answers.ts';
import type { Operation } from '../operation.ts';
import { readDocument } from '../request-body.ts';

const maxDocument = 64 * 1024;

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketEncryption.html */
export const getBucketEncryption: Operation = {
  name: 'GetBucketEncryption',
  setting: 'encryption',
  action: 's3:GetEncryptionConfiguration',
  async handle(call) {
    const encryption = await call.objects.getBucketEncryption(call.bucket);
    if (encryption === undefined) {
      throw new S3Error('ServerSideEncryptionConfigurationNotFoundError', undefined, {
        details: { BucketName: call.bucket },
      });
    }
    return xmlAnswer(writeBucketEncryption(encryption));
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketEncryption.html */
export const putBucketEncryption: Operation = {
  name: 'PutBucketEncryption',
  setting: 'encryption',
  action: 's3:PutEncryptionConfiguration',
  async handle(call) {
    const rule = parseBucketEncryption(await readDocument(call, maxDocument));
    await call.objects.putBucketEncryption(call.bucket, rule);
    return emptyAnswer(200);
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteBucketEncryption.html */
export const deleteBucketEncryption: Operation = {
  name: 'DeleteBucketEncryption',
  setting: 'encryption',
  action: 's3:PutEncryptionConfiguration',
  async handle(call) {
    await call.objects.deleteBucketEncryption(call.bucket);
    return emptyAnswer(204);
  },
};
