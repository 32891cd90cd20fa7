import {
  maxPublicAccessBlock,
  parsePublicAccessBlock,
  writePublicAccessBlock,
} from '../../../protocol/s3/access/public-access-block.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { emptyAnswer, xmlAnswer } from '../answers.ts';
import type { Operation } from '../operation.ts';
import { readDocument } from '../request-body.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetPublicAccessBlock.html */
export const getPublicAccessBlock: Operation = {
  name: 'GetPublicAccessBlock',
  setting: 'publicAccessBlock',
  action: 's3:GetBucketPublicAccessBlock',
  async handle(call) {
    const block = await call.objects.getPublicAccessBlock(call.bucket);
    if (block !== undefined) return xmlAnswer(writePublicAccessBlock(block));
    throw new S3Error('NoSuchPublicAccessBlockConfiguration', undefined, { details: { BucketName: call.bucket } });
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutPublicAccessBlock.html */
export const putPublicAccessBlock: Operation = {
  name: 'PutPublicAccessBlock',
  setting: 'publicAccessBlock',
  action: 's3:PutBucketPublicAccessBlock',
  async handle(call) {
    const block = parsePublicAccessBlock(await readDocument(call, maxPublicAccessBlock));
    await call.objects.putPublicAccessBlock(call.bucket, block);
    return emptyAnswer(200);
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeletePublicAccessBlock.html */
export const deletePublicAccessBlock: Operation = {
  name: 'DeletePublicAccessBlock',
  setting: 'publicAccessBlock',
  action: 's3:PutBucketPublicAccessBlock',
  async handle(call) {
    await call.objects.putPublicAccessBlock(call.bucket, undefined);
    return emptyAnswer(204);
  },
};
