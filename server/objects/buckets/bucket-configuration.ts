import { guardBucket, type BucketRecord, encodeBucket, getBucket } from '../records/bucket-record.ts';
import { commitChange } from '../operations/commit-change.ts';
import type { Environment } from '../context.ts';
import { recordKeys } from '../records/record-keys.ts';
import type { BucketEncryption } from '../object-layer.ts';

/** Changes the record of a bucket. Concurrent changes are applied one after the other. Throws `NoSuchBucket`. */
function changeBucket(
  environment: Environment,
  bucket: string,
  change: (record: BucketRecord) => BucketRecord,
): Promise<void> {
  return commitChange(environment, async () => {
    const stored = await getBucket(environment.records, bucket);
    const { deleting: _deleting, ...record } = stored.record;
    const put = [{ key: recordKeys.bucket(bucket), value: encodeBucket(change(record)) }];
    return { batch: { expect: guardBucket(bucket, stored).expect, put }, result: undefined };
  });
}

export async function getBucketEncryption(
  environment: Environment,
  bucket: string,
): Promise<BucketEncryption | undefined> {
  return (await getBucket(environment.records, bucket)).record.encryption;
}

/** Sets the encryption of new objects. Throws `KMSNotFound` when the key does not exist, `NotImplemented` without a key service. */
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

export async function getBucketPolicy(environment: Environment, bucket: string): Promise<string | undefined> {
  return (await getBucket(environment.records, bucket)).record.policy;
}

/** The caller has checked the policy. */
export function putBucketPolicy(environment: Environment, bucket: string, policy: string): Promise<void> {
  return changeBucket(environment, bucket, (record) => ({ ...record, policy }));
}

export function deleteBucketPolicy(environment: Environment, bucket: string): Promise<void> {
  return changeBucket(environment, bucket, ({ policy: _policy, ...record }) => record);
}

type Tags = Readonly<Record<string, string>>;

export async function getBucketTags(environment: Environment, bucket: string): Promise<Tags | undefined> {
  return (await getBucket(environment.records, bucket)).record.tags;
}

export function putBucketTags(environment: Environment, bucket: string, tags: Tags): Promise<void> {
  return changeBucket(environment, bucket, (record) => ({ ...record, tags }));
}

export function deleteBucketTags(environment: Environment, bucket: string): Promise<void> {
  return changeBucket(environment, bucket, ({ tags: _tags, ...record }) => record);
}
