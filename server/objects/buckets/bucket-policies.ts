import { parseBucketPolicy } from '../../../protocol/policy/parse-policy.ts';
import type { PolicyDocument } from '../../../protocol/policy/document.ts';
import type { RecordStore, Revision } from '../../store/record-store.ts';
import { decodeBucket } from '../records/bucket-record.ts';
import { recordKeys } from '../records/record-format.ts';

/** The maximum of buckets in the cache, with or without a policy. The oldest entry is evicted. */
const MAX_CACHED = 1000;

/**
 * Returns a function that reads the policy of a bucket. It returns the last committed policy on every thread, and parses each policy
 * once.
 */
export function bucketPolicies(
  records: Pick<RecordStore, 'get'>,
): (bucket: string) => Promise<PolicyDocument | undefined> {
  const parsed = new Map<string, { readonly revision: Revision; readonly document: PolicyDocument | undefined }>();
  return async (bucket) => {
    const entry = await records.get(recordKeys.bucket(bucket));
    if (entry === undefined) {
      parsed.delete(bucket);
      return undefined;
    }
    const known = parsed.get(bucket);
    if (known?.revision === entry.revision) return known.document;
    const { policy } = decodeBucket(entry.value, bucket);
    const document = policy === undefined ? undefined : parseBucketPolicy(policy, bucket);
    parsed.set(bucket, { revision: entry.revision, document });
    for (const oldest of parsed.keys()) {
      if (parsed.size <= MAX_CACHED) break;
      parsed.delete(oldest);
    }
    return document;
  };
}
