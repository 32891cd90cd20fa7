import { changeBucket } from './change-bucket.ts';
import type { Environment } from './environment.ts';
import type { BucketEncryption } from './object-layer.ts';
import { getBucket } from './records/bucket-record.ts';

export async function getBucketEncryption(
  environment: Environment,
  bucket: string,
): Promise<BucketEncryption | undefined> {
  return (await getBucket(environment.records, bucket)).record.encryption;
}

/** For objects written afterwards. Throws `KMSNotFound` when the key does not exist, `NotImplemented` without a key service. */
export async function putBucketEncryption(
  environment: Environment,
  bucket: string,
  encryption: BucketEncryption,
): Promise<void> {
  await getBucket(environment.records, bucket);
  if (encryption.scheme !== 'none') {
    const keyName = (encryption.scheme === 'SSE-KMS' ? encryption.keyName : undefined) ?? environment.keys.defaultKey;
    await environment.keys.checkKey(keyName);
  }
  await changeBucket(environment, bucket, (record) => ({ ...record, encryption }));
}

export async function deleteBucketEncryption(environment: Environment, bucket: string): Promise<void> {
  await changeBucket(environment, bucket, ({ encryption: _encryption, ...record }) => record);
}
