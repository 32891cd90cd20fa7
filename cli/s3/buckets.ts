import { readListBuckets, type BucketEntry } from '../../protocol/s3/read-answers.ts';
import { element, xmlDocument } from '../../protocol/s3/xml-writer.ts';
import type { S3Client } from './client.ts';
import { S3ResponseError } from './s3-response-error.ts';

export async function listBuckets(client: S3Client): Promise<readonly BucketEntry[]> {
  return readListBuckets((await client.text({ method: 'GET' })).text);
}

/** `region` undefined: the server's own. */
export async function createBucket(client: S3Client, bucket: string, region: string | undefined): Promise<void> {
  const body =
    region === undefined || region === 'us-east-1'
      ? undefined
      : Buffer.from(xmlDocument('CreateBucketConfiguration', [element('LocationConstraint', region)]));
  try {
    await client.text({ method: 'PUT', bucket, ...(body === undefined ? {} : { body }) });
  } catch (error) {
    // Sent twice, the first may have made it although its answer was lost.
    if (error instanceof S3ResponseError && error.code === 'BucketAlreadyOwnedByYou' && error.attempts > 1) return;
    throw error;
  }
}

export async function deleteBucket(client: S3Client, bucket: string): Promise<void> {
  try {
    await client.text({ method: 'DELETE', bucket });
  } catch (error) {
    if (error instanceof S3ResponseError && error.code === 'NoSuchBucket' && error.attempts > 1) return;
    throw error;
  }
}

/** Whether a bucket is there (and this client may know it). */
export async function headBucket(client: S3Client, bucket: string): Promise<void> {
  await client.text({ method: 'HEAD', bucket });
}
