import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { decodeCounter } from '../../store/commits.ts';
import { prefixOf } from '../../store/keys.ts';
import type { Batch, RecordStore, Revision } from '../../store/record-store.ts';
import type { StoredBucket } from '../records/bucket-record.ts';
import { decodeRecord, encodeRecord, recordKeys } from '../records/record-format.ts';
import { StoreError } from '../../store/store-error.ts';

/** A batch without its id, as operations plan it. */
type PlannedBatch = Omit<Batch, 'id'>;

interface Context {
  readonly records: Pick<RecordStore, 'get'>;
  readonly clock: () => number;
}

/** The progress of the first count of a bucket, in the order of keys. */
export interface QuotaCount {
  /** Every key up to this one is counted. Empty at the beginning. */
  readonly done: string;
  /** The count reads the keys after `done` up to this one now, and no commit changes them. Null for all keys after `done`. */
  readonly until: string | null;
  /** When the count began to read them, in milliseconds since 1970. */
  readonly since: number;
}

/** Milliseconds. A count that reads its keys for longer has died: the next commit among them takes them back. */
const MAX_READING_MS = 5_000;

/**
 * Adds to a batch that changes a key what counts its bytes against the quota of the bucket. `delta` is what the batch adds to the sizes
 * of all versions and uploaded parts of the key. The batch must expect the bucket as it was read. Throws
 * `XMinioAdminBucketQuotaExceeded`, and `StoreError` (`changed`) while the first count of the bucket reads this key.
 */
export async function countBytes(
  context: Context,
  { bucket, key }: { readonly bucket: string; readonly key: string },
  stored: StoredBucket,
  delta: number,
  batch: PlannedBatch,
): Promise<PlannedBatch> {
  const { quota } = stored.record;
  if (quota === undefined) return batch;
  const counting = quota.counting === true ? await countingOf(context, bucket, quota.counter, key) : undefined;
  const guarded = counting === undefined ? batch : withCount(batch, counting);
  // The count has not reached this key: it will read what the batch leaves.
  if (delta === 0 || counting?.isCounted === false) return guarded;
  await checkQuota(context, bucket, stored, delta);
  const addition = {
    key: recordKeys.quotaBytes(bucket, quota.counter),
    delta: BigInt(delta),
    ...(delta > 0 && { max: BigInt(quota.bytes) }),
  };
  return { ...guarded, add: [...(batch.add ?? []), addition] };
}

/** Throws `XMinioAdminBucketQuotaExceeded` where the bucket cannot hold this many more bytes now. The commit decides again. */
export async function checkQuota(
  context: Context,
  bucket: string,
  { record: { quota } }: StoredBucket,
  delta: number,
): Promise<void> {
  if (quota === undefined || delta <= 0) return;
  const used = await usedBytes(context, bucket, quota.counter);
  if (used + delta <= quota.bytes) return;
  const message = `Bucket quota exceeded: the bucket holds ${used} of ${quota.bytes} bytes, and the request adds ${delta}.`;
  throw new S3Error('XMinioAdminBucketQuotaExceeded', message, { details: { BucketName: bucket } });
}

/** Returns the counted bytes of a bucket with a quota. */
export async function usedBytes(
  { records }: Pick<Context, 'records'>,
  bucket: string,
  counter: string,
): Promise<number> {
  return Number(decodeCounter((await records.get(recordKeys.quotaBytes(bucket, counter)))?.value));
}

/** Reads the progress of a first count. Undefined before it begins, and after it ended. */
export async function readCount(
  { records }: Pick<Context, 'records'>,
  bucket: string,
  counter: string,
): Promise<{ readonly state: QuotaCount; readonly revision: Revision } | undefined> {
  const entry = await records.get(recordKeys.quotaCount(bucket, counter));
  return entry && { state: decodeRecord(entry.value, `count of ${bucket}`) as QuotaCount, revision: entry.revision };
}

/** The operations that a commit needs while a count is under way. */
interface Counting extends Required<Pick<PlannedBatch, 'expect' | 'put'>> {
  readonly isCounted: boolean;
}

function withCount(batch: PlannedBatch, { expect, put }: Counting): PlannedBatch {
  return { ...batch, expect: [...(batch.expect ?? []), ...expect], put: [...(batch.put ?? []), ...put] };
}

/** Each step of the count changes its record, so that a commit that read an older step conflicts. */
async function countingOf(context: Context, bucket: string, counter: string, key: string): Promise<Counting> {
  const recordKey = recordKeys.quotaCount(bucket, counter);
  const count = await readCount(context, bucket, counter);
  if (count === undefined) return { expect: [{ kind: 'absent', key: recordKey }], put: [], isCounted: false };
  const { done, until, since } = count.state;
  const expect = [{ kind: 'revision' as const, key: recordKey, revision: count.revision }];
  if (done !== '' && compareKeys(key, done) <= 0) return { expect, put: [], isCounted: true };
  if (until !== null && compareKeys(key, until) > 0) return { expect, put: [], isCounted: false };
  if (Math.abs(context.clock() - since) <= MAX_READING_MS) {
    throw new StoreError('changed', 'the count of the bucket reads this key now');
  }
  const state: QuotaCount = { done, until: done, since };
  return { expect, put: [{ key: recordKey, value: encodeRecord(state) }], isCounted: false };
}

/** Compares keys in the order of their records. */
export function compareKeys(one: string, other: string): number {
  return prefixOf(one).compare(prefixOf(other));
}
