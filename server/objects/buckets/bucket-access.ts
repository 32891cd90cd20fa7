import { isPublic } from '../../../protocol/policy/is-public.ts';
import { parseBucketPolicy } from '../../../protocol/policy/parse-policy.ts';
import type { PolicyDocument } from '../../../protocol/policy/document.ts';
import type { Acl } from '../../../protocol/s3/acl.ts';
import type { RecordStore, Revision } from '../../store/record-store.ts';
import { bucketAcl } from './bucket-configuration.ts';
import { type BucketRecord, countsAcls, decodeBucket } from '../records/bucket-record.ts';
import { recordKeys } from '../records/record-format.ts';

/** The settings of a bucket that decisions about its requests need. */
export interface BucketAccess {
  readonly policy?: PolicyDocument;
  /** The policy for callers without credentials, where the public access block restricts a public one: only what it denies. */
  readonly anonymousPolicy?: PolicyDocument;
  /** Present where ACLs count. */
  readonly acls?: { readonly acl: Acl; readonly ignorePublicAcls: boolean };
}

/** The maximum of buckets in the cache, with or without a policy. The oldest entry is evicted. */
const MAX_CACHED = 1000;

/**
 * Returns a function that reads the settings of a bucket for decisions. It returns the last committed ones on every thread, and parses
 * each policy once. It resolves with undefined for a bucket without any, and for an absent one.
 */
export function bucketAccess(records: Pick<RecordStore, 'get'>): (bucket: string) => Promise<BucketAccess | undefined> {
  const parsed = new Map<string, { readonly revision: Revision; readonly access: BucketAccess | undefined }>();
  return async (bucket) => {
    const entry = await records.get(recordKeys.bucket(bucket));
    if (entry === undefined) {
      parsed.delete(bucket);
      return undefined;
    }
    const known = parsed.get(bucket);
    if (known?.revision === entry.revision) return known.access;
    const access = accessOf(decodeBucket(entry.value, bucket), bucket);
    parsed.set(bucket, { revision: entry.revision, access });
    for (const oldest of parsed.keys()) {
      if (parsed.size <= MAX_CACHED) break;
      parsed.delete(oldest);
    }
    return access;
  };
}

function accessOf(record: BucketRecord, bucket: string): BucketAccess | undefined {
  const policies = policiesOf(record, bucket);
  if (!countsAcls(record)) return policies;
  const ignorePublicAcls = record.publicAccessBlock?.ignorePublicAcls === true;
  return { ...policies, acls: { acl: bucketAcl(record), ignorePublicAcls } };
}

function policiesOf({ policy, publicAccessBlock }: BucketRecord, bucket: string): BucketAccess | undefined {
  if (policy === undefined) return undefined;
  const document = parseBucketPolicy(policy, bucket);
  if (publicAccessBlock?.restrictPublicBuckets !== true || !isPublic(document)) return { policy: document };
  const denying = document.statements.filter(({ effect }) => effect === 'Deny');
  return { policy: document, anonymousPolicy: { ...document, statements: denying } };
}
