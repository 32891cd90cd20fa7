import { guardBucket, type BucketRecord, encodeBucket, getBucket } from '../records/bucket-record.ts';
import { commitChange } from '../operations/commit-change.ts';
import type { ObjectContext } from '../context.ts';
import { recordKeys } from '../records/record-format.ts';
import type { BucketEncryption } from '../object-layer.ts';

/** Changes the record of a bucket. Concurrent changes are applied one after the other. Throws `NoSuchBucket`. */
function changeBucket(
  context: ObjectContext,
  bucket: string,
  change: (record: BucketRecord) => BucketRecord,
): Promise<void> {
  return commitChange(context, async () => {
    const stored = await getBucket(context.records, bucket);
    const { deleting: _deleting, ...record } = stored.record;
    const put = [{ key: recordKeys.bucket(bucket), value: encodeBucket(change(record)) }];
    return { batch: { expect: guardBucket(bucket, stored).expect, put }, result: undefined };
  });
}

export async function getBucketEncryption(
  context: ObjectContext,
  bucket: string,
): Promise<BucketEncryption | undefined> {
  return (await getBucket(context.records, bucket)).record.encryption;
}

/** Sets the encryption of new objects. Throws `KMSNotFound` when the key does not exist, `NotImplemented` without a key service. */
export async function putBucketEncryption(
  context: ObjectContext,
  bucket: string,
  encryption: BucketEncryption,
): Promise<void> {
  await getBucket(context.records, bucket);
  if (encryption.scheme !== 'none') {
    const keyName = (encryption.scheme === 'SSE-KMS' ? encryption.keyName : undefined) ?? context.keys.defaultKey;
    await context.keys.checkKey(keyName);
  }
  await changeBucket(context, bucket, (record) => ({ ...record, encryption }));
}

export async function deleteBucketEncryption(context: ObjectContext, bucket: string): Promise<void> {
  await changeBucket(context, bucket, ({ encryption: _encryption, ...record }) => record);
}

export async function getBucketPolicy(context: ObjectContext, bucket: string): Promise<string | undefined> {
  return (await getBucket(context.records, bucket)).record.policy;
}

/** The caller has checked the policy. */
export function putBucketPolicy(context: ObjectContext, bucket: string, policy: string): Promise<void> {
  return changeBucket(context, bucket, (record) => ({ ...record, policy }));
}

export function deleteBucketPolicy(context: ObjectContext, bucket: string): Promise<void> {
  return changeBucket(context, bucket, ({ policy: _policy, ...record }) => record);
}

type Tags = Readonly<Record<string, string>>;

export async function getBucketTags(context: ObjectContext, bucket: string): Promise<Tags | undefined> {
  return (await getBucket(context.records, bucket)).record.tags;
}

export function putBucketTags(context: ObjectContext, bucket: string, tags: Tags): Promise<void> {
  return changeBucket(context, bucket, (record) => ({ ...record, tags }));
}

export function deleteBucketTags(context: ObjectContext, bucket: string): Promise<void> {
  return changeBucket(context, bucket, ({ tags: _tags, ...record }) => record);
}
