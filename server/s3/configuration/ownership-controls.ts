import {
  maxOwnershipDocument,
  type ObjectOwnership,
  parseOwnership,
  parseOwnershipControls,
  writeOwnershipControls,
} from '../../../protocol/s3/access/ownership-controls.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { emptyAnswer, xmlAnswer } from '../answers.ts';
import type { Operation, S3Call } from '../operation.ts';
import { header } from '../request.ts';
import { readDocument } from '../request-body.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketOwnershipControls.html */
export const getBucketOwnershipControls: Operation = {
  name: 'GetBucketOwnershipControls',
  setting: 'ownership',
  action: 's3:GetBucketOwnershipControls',
  async handle(call) {
    const ownership = await call.objects.getOwnership(call.bucket);
    if (ownership !== undefined) return xmlAnswer(writeOwnershipControls(ownership));
    throw new S3Error('OwnershipControlsNotFoundError', undefined, { details: { BucketName: call.bucket } });
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketOwnershipControls.html */
export const putBucketOwnershipControls: Operation = {
  name: 'PutBucketOwnershipControls',
  setting: 'ownership',
  action: 's3:PutBucketOwnershipControls',
  async handle(call) {
    const ownership = parseOwnershipControls(await readDocument(call, maxOwnershipDocument));
    await call.objects.putOwnership(call.bucket, ownership);
    return emptyAnswer(200);
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteBucketOwnershipControls.html */
export const deleteBucketOwnershipControls: Operation = {
  name: 'DeleteBucketOwnershipControls',
  setting: 'ownership',
  action: 's3:PutBucketOwnershipControls',
  async handle(call) {
    await call.objects.putOwnership(call.bucket, undefined);
    return emptyAnswer(204);
  },
};

/**
 * Reads `x-amz-object-ownership` of a new bucket, and requires the permission to set it. The default needs none.
 *
 * @throws S3Error AccessDenied, InvalidArgument
 */
export async function ownershipOfNewBucket(call: S3Call): Promise<ObjectOwnership | undefined> {
  const name = 'x-amz-object-ownership';
  const text = header(call.request.headers, name);
  if (text === undefined) return undefined;
  const ownership = parseOwnership(text);
  if (ownership === undefined) {
    throw new S3Error('InvalidArgument', `Invalid ${name} header: ${text.slice(0, 100)}`, {
      details: { ArgumentName: name, ArgumentValue: text.slice(0, 100) },
    });
  }
  if (ownership !== 'BucketOwnerEnforced') await call.require('s3:PutBucketOwnershipControls', call.bucket);
  return ownership;
}
