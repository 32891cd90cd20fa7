import { createHash } from 'node:crypto';
import {
  parseBucketEncryption,
  writeBucketEncryption,
  type BucketEncryptionRule,
} from '../../protocol/s3/bucket-encryption.ts';
import type { S3Client } from './client.ts';
import { S3ResponseError } from './s3-response-error.ts';

const query = { encryption: '' };

/** Undefined when the bucket has no default encryption. */
export async function getBucketEncryption(client: S3Client, bucket: string): Promise<BucketEncryptionRule | undefined> {
  try {
    return parseBucketEncryption((await client.text({ method: 'GET', bucket, query })).text);
  } catch (error) {
    if (error instanceof S3ResponseError && error.code === 'ServerSideEncryptionConfigurationNotFoundError')
      return undefined;
    throw error;
  }
}

export async function putBucketEncryption(client: S3Client, bucket: string, rule: BucketEncryptionRule): Promise<void> {
  const body = Buffer.from(writeBucketEncryption(rule));
  const headers = { 'content-md5': createHash('md5').update(body).digest('base64'), 'content-type': 'application/xml' };
  await client.text({ method: 'PUT', bucket, query, body, headers });
}

export async function deleteBucketEncryption(client: S3Client, bucket: string): Promise<void> {
  await client.text({ method: 'DELETE', bucket, query });
}
