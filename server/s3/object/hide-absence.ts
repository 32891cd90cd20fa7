import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { S3Call } from '../operation.ts';

type Caller = Pick<S3Call, 'bucket' | 'require'>;

/**
 * Runs an operation on an object that is there. Only a caller who may list the bucket, or its versions, learns that a key or a version does not
 * exist.
 *
 * @throws S3Error AccessDenied for any other caller
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html
 */
export async function hideAbsence<T>(call: Caller, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    if (error instanceof S3Error) await requireKnowledge(call, error, call.bucket);
    throw error;
  }
}

/** Requires the right to learn what an error says about a bucket: that a key or a version is absent. */
export async function requireKnowledge(call: Caller, { code }: S3Error, bucket: string): Promise<void> {
  if (code === 'NoSuchKey') await call.require('s3:ListBucket', bucket);
  if (code === 'NoSuchVersion') await call.require('s3:ListBucketVersions', bucket);
}
