import { changeBucket } from './change-bucket.ts';
import type { Environment } from './environment.ts';
import { getBucket } from './records/bucket-record.ts';

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
