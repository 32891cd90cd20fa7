import type { BucketEncryptionRule } from '../../protocol/s3/bucket-encryption.ts';
import type { Tags } from '../../protocol/s3/tagging.ts';
import type { BucketSpec } from '../api/bucket.ts';
import type { Json } from '../workload.ts';

/** What a Bucket resource decides of a bucket, wanted or found. What is undefined is not there. */
export interface BucketState {
  readonly encryption: BucketEncryptionRule | undefined;
  readonly policy: Json | undefined;
  readonly tags: Tags;
}

/** What a resource leaves out the bucket is not to have: a policy that was taken out of the resource must not live on. */
export function wantedState({ encryption, policy, tags }: BucketSpec): BucketState {
  return {
    encryption: encryption === undefined ? undefined : encryptionRule(encryption),
    policy,
    tags: tags ?? {},
  };
}

function encryptionRule({ algorithm, keyName }: NonNullable<BucketSpec['encryption']>): BucketEncryptionRule {
  if (algorithm === 'AES256') return { scheme: 'SSE-S3' };
  return { scheme: 'SSE-KMS', ...(keyName === undefined ? {} : { keyName }) };
}
