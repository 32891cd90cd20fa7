import type { Batch } from '../store/record-store.ts';
import { encodeBucket, type StoredBucket } from './records/bucket-record.ts';
import { recordKeys } from './records/record-keys.ts';

/**
 * What every commit that puts something into a bucket carries: the bucket is as it was read, and a deletion under way is called off.
 * So a deletion, which marks the bucket before it looks, never removes a bucket that something was just put into.
 */
export function guardBucket(bucket: string, stored: StoredBucket): Required<Pick<Batch, 'expect' | 'put'>> {
  const key = recordKeys.bucket(bucket);
  const { deleting, ...record } = stored.record;
  return {
    expect: [{ kind: 'revision', key, revision: stored.revision }],
    put: deleting === true ? [{ key, value: encodeBucket(record) }] : [],
  };
}
