import { isPublic } from '../../../protocol/policy/is-public.ts';
import { parseBucketPolicy } from '../../../protocol/policy/parse-policy.ts';
import type { PolicyDocument } from '../../../protocol/policy/document.ts';
import type { Acl } from '../../../protocol/s3/acl.ts';
import type { PublicAccessBlock } from '../../../protocol/s3/access/public-access-block.ts';
import type { RecordStore, Revision } from '../../store/record-store.ts';
import { joinedBlock, readAccountBlock } from '../attributes/account-block.ts';
import { bucketAcl } from './bucket-configuration.ts';
import { type BucketRecord, countsAcls, decodeBucket } from '../records/bucket-record.ts';
import { recordKeys } from '../records/record-format.ts';

/** The settings of a bucket that decisions about its requests need. */
export interface BucketAccess {
  readonly policy?: PolicyDocument;
  /** The policy for callers without credentials, where the public access block restricts a public one: only what it denies. */
  readonly anonymousPolicy?: PolicyDocument;
  readonly tags?: Readonly<Record<string, string>>;
  /** Present where ACLs count. */
  readonly acls?: { readonly acl: Acl; readonly ignorePublicAcls: boolean };
}

/** The maximum of buckets in the cache, with or without a policy. The oldest entry is evicted. */
const MAX_CACHED = 1000;

/** The access configuration of a bucket without any public access block. */
interface Parsed {
  readonly revision: Revision;
  readonly record: BucketRecord;
  readonly access: BucketAccess | undefined;
  /** The statements of a restricted public policy that still apply to callers without credentials. */
  readonly denying: PolicyDocument | undefined;
}

/**
 * Returns a function that reads the settings of a bucket for decisions. It returns the last committed ones on every thread, and parses
 * each policy once. It reads the public access block of the account only for a bucket with a public policy, or where ACLs count. It resolves
 * with undefined for a bucket without any setting, and for an absent one.
 */
export function bucketAccess(records: Pick<RecordStore, 'get'>): (bucket: string) => Promise<BucketAccess | undefined> {
  const parsed = new Map<string, Parsed>();
  return async (bucket) => {
    const entry = await records.get(recordKeys.bucket(bucket));
    if (entry === undefined) {
      parsed.delete(bucket);
      return undefined;
    }
    let known = parsed.get(bucket);
    if (known?.revision !== entry.revision) {
      known = { revision: entry.revision, ...parse(decodeBucket(entry.value, bucket), bucket) };
      parsed.set(bucket, known);
      for (const oldest of parsed.keys()) {
        if (parsed.size <= MAX_CACHED) break;
        parsed.delete(oldest);
      }
    }
    const { access, denying, record } = known;
    if (denying === undefined && access?.acls === undefined) return access;
    return restricted(access, denying, joinedBlock(record, await readAccountBlock(records)));
  };
}

function parse(record: BucketRecord, bucket: string): Omit<Parsed, 'revision'> {
  const { policy: text, tags } = record;
  const policy = text === undefined ? undefined : parseBucketPolicy(text, bucket);
  const acls = countsAcls(record) ? { acl: bucketAcl(record), ignorePublicAcls: false } : undefined;
  const isEmpty = policy === undefined && tags === undefined && acls === undefined;
  const access = isEmpty ? undefined : { ...(policy && { policy }), ...(tags && { tags }), ...(acls && { acls }) };
  const denying =
    policy !== undefined && isPublic(policy)
      ? { ...policy, statements: policy.statements.filter(({ effect }) => effect === 'Deny') }
      : undefined;
  return { record, access, denying };
}

function restricted(
  access: BucketAccess | undefined,
  denying: PolicyDocument | undefined,
  block: PublicAccessBlock | undefined,
): BucketAccess {
  return {
    ...access,
    ...(denying !== undefined && block?.restrictPublicBuckets === true && { anonymousPolicy: denying }),
    ...(access?.acls && { acls: { ...access.acls, ignorePublicAcls: block?.ignorePublicAcls === true } }),
  };
}
