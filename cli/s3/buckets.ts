import { readListBuckets, type BucketEntry } from '../../protocol/s3/responses.ts';
import { element, xmlDocument } from '../../protocol/s3/xml-writer.ts';
import type { S3Client } from './client.ts';
import { xmlBody } from './xml-body.ts';
import {
  parseBucketEncryption,
  writeBucketEncryption,
  type BucketEncryptionRule,
} from '../../protocol/s3/bucket-encryption.ts';
import { ResponseError } from '../../protocol/response-error.ts';

export async function listBuckets(client: S3Client): Promise<readonly BucketEntry[]> {
  return readListBuckets((await client.text({ method: 'GET' })).text);
}

interface NewBucket {
  /** Without a region the server uses its own. */
  readonly region?: string | undefined;
  /** Object lock needs versions, so it enables them too. */
  readonly objectLock?: boolean;
}

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucket.html */
export async function createBucket(client: S3Client, bucket: string, options: NewBucket = {}): Promise<void> {
  const { region, objectLock } = options;
  const headers: Record<string, string> = objectLock === true ? { 'x-amz-bucket-object-lock-enabled': 'true' } : {};
  const body =
    region === undefined || region === 'us-east-1'
      ? undefined
      : Buffer.from(xmlDocument('CreateBucketConfiguration', [element('LocationConstraint', region)]));
  try {
    await client.text({ method: 'PUT', bucket, body, headers });
  } catch (error) {
    // An earlier attempt whose answer was lost may have created it.
    if (error instanceof ResponseError && error.code === 'BucketAlreadyOwnedByYou' && error.attempts > 1) return;
    throw error;
  }
}

export async function deleteBucket(client: S3Client, bucket: string): Promise<void> {
  try {
    await client.text({ method: 'DELETE', bucket });
  } catch (error) {
    if (error instanceof ResponseError && error.code === 'NoSuchBucket' && error.attempts > 1) return;
    throw error;
  }
}

/** Fails unless the bucket exists and the caller may know it. */
export async function headBucket(client: S3Client, bucket: string): Promise<void> {
  await client.text({ method: 'HEAD', bucket });
}

const query = { encryption: '' };

/** Undefined when the bucket has no default encryption. */
export async function getBucketEncryption(client: S3Client, bucket: string): Promise<BucketEncryptionRule | undefined> {
  try {
    return parseBucketEncryption((await client.text({ method: 'GET', bucket, query })).text);
  } catch (error) {
    if (error instanceof ResponseError && error.code === 'ServerSideEncryptionConfigurationNotFoundError')
      return undefined;
    throw error;
  }
}

export async function putBucketEncryption(client: S3Client, bucket: string, rule: BucketEncryptionRule): Promise<void> {
  await client.text({ method: 'PUT', bucket, query, ...xmlBody(writeBucketEncryption(rule)) });
}

export async function deleteBucketEncryption(client: S3Client, bucket: string): Promise<void> {
  await client.text({ method: 'DELETE', bucket, query });
}
