import { parseBucketPolicy } from '../../protocol/policy/parse-bucket-policy.ts';
import type { PolicyDocument } from '../../protocol/policy/document.ts';
import type { RecordStore, Revision } from '../store/record-store.ts';
import { findBucket } from './records/bucket-record.ts';

/** Policies kept parsed. Beyond this many buckets the one that was put in first goes. */
const mostKept = 1000;

/**
 * The policies of buckets as every decision needs them: what was committed last counts, on every thread at once, and each policy is
 * parsed once.
 */
export function bucketPolicies(
  records: Pick<RecordStore, 'get'>,
): (bucket: string) => Promise<PolicyDocument | undefined> {
  const parsed = new Map<string, { readonly revision: Revision; readonly document: PolicyDocument }>();
  return async (bucket) => {
    const found = await findBucket(records, bucket);
    if (found?.record.policy === undefined) {
      parsed.delete(bucket);
      return undefined;
    }
    const known = parsed.get(bucket);
    if (known?.revision === found.revision) return known.document;
    const document = parseBucketPolicy(found.record.policy, bucket);
    parsed.set(bucket, { revision: found.revision, document });
    for (const oldest of parsed.keys()) {
      if (parsed.size <= mostKept) break;
      parsed.delete(oldest);
    }
    return document;
  };
}
