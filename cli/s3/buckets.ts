import { isUnproven } from './error-of-status.ts';
import { readListBuckets, type BucketEntry } from '../../protocol/s3/responses.ts';
import { element, xmlDocument } from '../../protocol/s3/xml-writer.ts';
import type { S3Client } from './client.ts';
import { parseBucketEncryption, type BucketEncryptionRule } from '../../protocol/s3/bucket-encryption.ts';
import { elementAt, newElement, readEditable, without, withText, writeEdited } from '../../protocol/s3/xml-edit.ts';
import { ResponseError } from '../../protocol/response-error.ts';
import type { BucketSetting } from './edit-setting.ts';

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
  await client.text({ method: 'HEAD', bucket }).catch((error: unknown) => {
    if (!isUnproven(error)) throw error;
    return client.text({ method: 'GET', bucket, query: { location: '' } });
  });
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

export const encryptionSetting: BucketSetting = {
  name: 'encryption',
  absent: 'ServerSideEncryptionConfigurationNotFoundError',
};

const defaults = ['Rule', 'ApplyServerSideEncryptionByDefault'];

/** Returns the document with another default; the encryption that is blocked, bucket keys and all else stay. */
export function withDefaultEncryption(document: string | undefined, { scheme, keyName }: DefaultEncryption): string {
  const root = document === undefined ? newElement('ServerSideEncryptionConfiguration', []) : readEditable(document);
  const named = withText(root, [...defaults, 'SSEAlgorithm'], scheme === 'SSE-S3' ? 'AES256' : 'aws:kms');
  const key = [...defaults, 'KMSMasterKeyID'];
  return writeEdited(keyName === undefined ? without(named, key) : withText(named, key, keyName));
}

/** Returns the document without a default; undefined if it blocks no encryption, so that nothing is left. */
export function withoutDefaultEncryption(document: string): string | undefined {
  const root = readEditable(document);
  if (elementAt(root, ['Rule', 'BlockedEncryptionTypes']) === undefined) return undefined;
  return writeEdited(without(root, defaults));
}

interface DefaultEncryption {
  readonly scheme: 'SSE-S3' | 'SSE-KMS';
  /** Without a name it is the default key of the server. */
  readonly keyName?: string | undefined;
}
