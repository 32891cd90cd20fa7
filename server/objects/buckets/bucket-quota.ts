import { setTimeout as sleep } from 'node:timers/promises';
import { commitOnce } from '../../store/commits.ts';
import { decodeKey, within } from '../../store/keys.ts';
import { type Batch, type Key, type RecordStore, scanPages } from '../../store/record-store.ts';
import type { ObjectContext } from '../context/context.ts';
import type { BucketQuota } from '../contract/buckets.ts';
import { commitChange } from '../commit/commit-change.ts';
import { encodeBucket, getBucket, guardBucket } from '../records/bucket-record.ts';
import { objectSize } from '../records/object-record.ts';
import { encodeRecord, recordKeys } from '../records/record-format.ts';
import { partsOf } from '../records/upload-record.ts';
import { isUnreadable } from '../records/damage.ts';
import { compareKeys, type QuotaCount, readCount, usedBytes } from '../quota/count-bytes.ts';

export async function getBucketQuota(context: ObjectContext, bucket: string): Promise<BucketQuota | undefined> {
  const { quota } = (await getBucket(context.records, bucket)).record;
  if (quota === undefined) return undefined;
  const { bytes, counter, counting = false } = quota;
  return { bytes, used: await usedBytes(context, bucket, counter), counting };
}

/**
 * Sets the maximum of bytes, or removes it. The first call counts what the bucket holds, while clients change it, and resolves when the
 * quota is exact. A count that was interrupted is continued by the next call. Throws `NoSuchBucket`.
 */
export async function putBucketQuota(context: ObjectContext, bucket: string, bytes: number | undefined): Promise<void> {
  await commitChange(context, async () => {
    const stored = await getBucket(context.records, bucket);
    const { deleting: _deleting, quota, ...record } = stored.record;
    const { expect } = guardBucket(bucket, stored);
    const key = recordKeys.bucket(bucket);
    if (bytes === undefined) {
      if (quota === undefined) return { result: undefined };
      const put = [{ key, value: encodeBucket(record) }];
      return { batch: { expect, put, delete: quotaRecords(bucket, quota.counter) }, result: undefined };
    }
    // Another counter than before: no commit that the old one counted is in flight.
    const started = { counter: context.random(8).toString('hex'), counting: true } as const;
    const value = encodeBucket({ ...record, quota: { ...(quota ?? started), bytes } });
    return { batch: { expect, put: [{ key, value }] }, result: undefined };
  });
  if (bytes !== undefined) await countBucket(context, bucket);
}

/** Returns the keys of the records of a quota, which go with it. */
export function quotaRecords(bucket: string, counter: string): readonly Key[] {
  return [recordKeys.quotaBytes(bucket, counter), recordKeys.quotaCount(bucket, counter)];
}

/** Milliseconds to the next attempt, where another caller counts too. */
const RETRY_MS = 10;

async function countBucket(context: ObjectContext, bucket: string): Promise<void> {
  for (;;) {
    const step = await nextStep(context, bucket);
    if (step === undefined) return;
    const outcome = await commitOnce(context.records, step, context.random);
    if (outcome.kind !== 'committed') await sleep(RETRY_MS);
  }
}

/**
 * Returns the next step: it adds the bytes of the keys that no commit changes now, and names the next keys. Undefined when the count has
 * ended, or the quota is gone.
 */
async function nextStep(context: ObjectContext, bucket: string): Promise<Omit<Batch, 'id'> | undefined> {
  const { records } = context;
  const stored = await getBucket(records, bucket);
  const { quota } = stored.record;
  if (quota?.counting !== true) return undefined;
  const bucketExpectation = guardBucket(bucket, stored).expect;
  const key = recordKeys.quotaCount(bucket, quota.counter);
  const count = await readCount(context, bucket, quota.counter);
  if (count === undefined) {
    const first = await windowAfter(context, bucket, '');
    return { expect: [...bucketExpectation, { kind: 'absent', key }], put: [{ key, value: encodeRecord(first) }] };
  }
  const { done, until } = count.state;
  const delta = BigInt(await bytesBetween(records, bucket, done, until));
  const expect = [...bucketExpectation, { kind: 'revision' as const, key, revision: count.revision }];
  const add = [{ key: recordKeys.quotaBytes(bucket, quota.counter), delta }];
  if (until !== null) {
    const next = await windowAfter(context, bucket, until);
    return { expect, add, put: [{ key, value: encodeRecord(next) }] };
  }
  const { counting: _counting, ...counted } = quota;
  const value = encodeBucket({ ...stored.record, quota: counted });
  return { expect, add, put: [{ key: recordKeys.bucket(bucket), value }], delete: [key] };
}

/** The tables with sizes, and how many of their records a window has. An upload has up to 10,000 parts. */
const tables = { o: 2_000, v: 2_000, u: 20 } as const;
type Table = keyof typeof tables;
const tableNames = Object.keys(tables) as Table[];

/** Returns a window of bounded size after a key. Writers of its keys wait for the count. */
async function windowAfter({ records, clock }: ObjectContext, bucket: string, done: string): Promise<QuotaCount> {
  let last: string | null = null;
  for (const table of tableNames) {
    let key: string | undefined;
    let found = 0;
    for await (const items of scanPages(records, { ...rangeAfter(table, bucket, done), limit: tables[table] })) {
      found += items.length;
      const item = items.at(-1);
      if (item?.kind === 'entry') key = String(decodeKey(item.key)[2]);
    }
    if (found === tables[table] && key !== undefined && (last === null || compareKeys(key, last) < 0)) last = key;
  }
  return { done, until: last, since: clock() };
}

async function bytesBetween(records: RecordStore, bucket: string, done: string, until: string | null): Promise<number> {
  let bytes = 0;
  for (const table of tableNames) {
    const { start, end } = rangeAfter(table, bucket, done);
    const range = { start, end: until === null ? end : within(table, bucket, until).end };
    for await (const items of scanPages(records, range)) {
      for (const item of items) if (item.kind === 'entry') bytes += await bytesOf(records, table, item);
    }
  }
  return bytes;
}

function rangeAfter(table: Table, bucket: string, done: string): { readonly start: Buffer; readonly end: Buffer } {
  const { start, end } = within(table, bucket);
  return { start: done === '' ? start : within(table, bucket, done).end, end };
}

async function bytesOf(
  records: RecordStore,
  table: Table,
  { key, value }: { readonly key: Key; readonly value: Buffer },
): Promise<number> {
  if (table === 'u') {
    let bytes = 0;
    for await (const part of partsOf(records, String(decodeKey(key)[3]))) bytes += part.record.size;
    return bytes;
  }
  try {
    return objectSize(value);
  } catch (error) {
    // A record that no server can read cannot be removed through a server either.
    if (isUnreadable(error)) return 0;
    throw error;
  }
}
