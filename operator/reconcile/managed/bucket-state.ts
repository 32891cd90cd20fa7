import type { BucketEncryptionRule } from '../../../protocol/s3/bucket-encryption.ts';
import type { Tags } from '../../../protocol/s3/tagging.ts';
import type { BucketSpec } from '../../api/bucket.ts';
import type { Json } from '../../runtime/contract/workload.ts';
import { sameDocument } from './create-controller.ts';

/** The part of a bucket that a Bucket resource decides, wanted or found. An undefined field is absent. */
export interface BucketState {
  readonly encryption: BucketEncryptionRule | undefined;
  readonly policy: Json | undefined;
  readonly tags: Tags;
}

/** The bucket loses settings that the resource leaves out: a policy that was taken out of the resource must not live on. */
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

/** One change of a bucket; `difference` is its reason. */
export type BucketChange = { readonly difference: string } & (
  | { readonly kind: 'create' }
  | { readonly kind: 'encryption'; readonly to: BucketEncryptionRule | undefined }
  | { readonly kind: 'policy'; readonly to: Json | undefined }
  | { readonly kind: 'tags'; readonly to: Tags }
);

/** Answers the changes that make the found bucket the wanted one, in this order. `found` is undefined where there is no bucket. */
export function diffBucket(wanted: BucketState, found: BucketState | undefined): readonly BucketChange[] {
  const now = found ?? { encryption: undefined, policy: undefined, tags: {} };
  const changes: BucketChange[] = [];
  if (found === undefined) changes.push({ kind: 'create', difference: 'there is no such bucket' });
  // Before the policy: nobody is let in who would write what is not encrypted.
  if (!sameDocument(wanted.encryption, now.encryption)) {
    const difference = `encryption is ${describeEncryption(now.encryption)} and should be ${describeEncryption(wanted.encryption)}`;
    changes.push({ kind: 'encryption', to: wanted.encryption, difference });
  }
  if (!sameDocument(wanted.tags, now.tags)) {
    changes.push({ kind: 'tags', to: wanted.tags, difference: describeTags(wanted.tags, now.tags) });
  }
  if (!sameDocument(wanted.policy, now.policy)) {
    changes.push({ kind: 'policy', to: wanted.policy, difference: describePolicy(wanted.policy, now.policy) });
  }
  return changes;
}

function describeEncryption(rule: BucketEncryptionRule | undefined): string {
  if (rule === undefined) return 'off';
  const beside = rule.blocked === undefined ? '' : `, blocking ${rule.blocked.join(', ') || 'nothing'}`;
  switch (rule.scheme) {
    case 'none':
      return `off${beside}`;
    case 'SSE-S3':
      return `AES256${beside}`;
    case 'SSE-KMS':
      return `aws:kms with ${rule.keyName === undefined ? 'the default key' : `the key ${rule.keyName}`}${beside}`;
  }
}

/** Names keys only: a list of 50 tags is for no one to read. */
function describeTags(wanted: Tags, found: Tags): string {
  const keys = [...new Set([...Object.keys(wanted), ...Object.keys(found)])].filter(
    (key) => wanted[key] !== found[key],
  );
  const shown = keys.sort().slice(0, 5).join(', ');
  return `tags differ: ${shown}${keys.length > 5 ? ` and ${keys.length - 5} more` : ''}`;
}

function describePolicy(wanted: Json | undefined, found: Json | undefined): string {
  if (wanted === undefined) return 'there is a policy and should be none';
  return found === undefined ? 'there is no policy' : 'the policy differs';
}
