import { changeBucket } from './change-bucket.ts';
import type { Environment } from './environment.ts';
import { getBucket } from './records/bucket-record.ts';

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
