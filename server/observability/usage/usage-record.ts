import { decodeRecord, encodeRecord } from '../../objects/records/record-format.ts';
import { commitOnce, decodeCounter } from '../../store/commits.ts';
import { key } from '../../store/keys.ts';
import type { Entry, RecordStore } from '../../store/record-store.ts';
import { countProgressKey } from './count-progress.ts';
import { type BucketUsage, sumOf, type Usage } from './usage.ts';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { MaintenanceError } from '../../maintenance/maintenance-error.ts';

/**
 * The last complete count. The rows of its buckets have a record of their own, since the check whether a count is due needs none of
 * them.
 */
const lastKey = key('usage', 'last');
const bucketsKey = key('usage', 'buckets');
/** The count of requests to count. It is a counter and not a time, since the clocks of servers differ. */
const askedKey = key('usage', 'asked');

type LastRecord = Pick<Usage, 'began' | 'ended' | 'answers' | 'unreadable' | 'tiers'>;

/** One row, about a hundred bytes for each bucket. */
type Row = readonly [
  bucket: string,
  objects: number,
  bytes: number,
  uploads: number,
  uploadBytes: number,
  sizes: readonly number[],
  /** Absent in the rows of older servers. */
  versions?: number,
  deleteMarkers?: number,
  keys?: readonly number[],
];

export interface CountState {
  /** Absent before the first. */
  readonly last: LastRecord | undefined;
  readonly asked: number;
}

export async function readCountState(records: Pick<RecordStore, 'getAll'>): Promise<CountState> {
  const [last, asked] = await records.getAll([lastKey, askedKey]);
  return { last: last && decodeLast(last), asked: Number(decodeCounter(asked?.value)) };
}

/** Undefined before the first count has ended. */
async function readUsage(records: Pick<RecordStore, 'getAll'>): Promise<Usage | undefined> {
  const [last, rows] = await records.getAll([lastKey, bucketsKey]);
  if (last === undefined || rows === undefined) return undefined;
  const buckets = (decodeRecord(rows.value, 'the usage of buckets') as { readonly rows: readonly Row[] }).rows.map(
    ([bucket, objects, bytes, uploads, uploadBytes, sizes, versions = 0, deleteMarkers = 0, keys = []]) => ({
      bucket,
      objects,
      bytes,
      versions,
      deleteMarkers,
      uploads,
      uploadBytes,
      sizes,
      keys,
    }),
  );
  return { ...decodeLast(last), ...sumOf(buckets), buckets };
}

export async function writeUsage(
  records: RecordStore,
  { buckets, ...last }: LastRecord & { readonly buckets: readonly BucketUsage[] },
  random: (size: number) => Buffer,
): Promise<void> {
  const rows = buckets.map((usage): Row => {
    const { bucket, objects, bytes, versions, deleteMarkers, uploads, uploadBytes, sizes, keys } = usage;
    const counts = [withoutLastZeros(sizes), versions, deleteMarkers, withoutLastZeros(keys)] as const;
    return [bucket, objects, bytes, uploads, uploadBytes, ...counts];
  });
  const put = [
    { key: lastKey, value: encodeRecord(last) },
    { key: bucketsKey, value: encodeRecord({ rows }) },
  ];
  await commitOnce(records, { put, delete: [countProgressKey] }, random);
}

function withoutLastZeros(counts: readonly number[]): readonly number[] {
  return counts.slice(0, counts.findLastIndex((count) => count > 0) + 1);
}

/** Requests a count. Returns the number of the request: a count that answers this many requests began after it. */
async function askForCount(records: RecordStore, random: (size: number) => Buffer): Promise<number> {
  await commitOnce(records, { add: [{ key: askedKey, delta: 1n }] }, random);
  return (await readCountState(records)).asked;
}

function decodeLast({ value }: Entry): LastRecord {
  return decodeRecord(value, 'the usage') as LastRecord;
}

/** Reads the usage for APIs that show it. */
export interface UsageReader {
  /** Resolves to the last complete count; undefined before the first. */
  last(): Promise<Usage | undefined>;
  /** Asks the leading server to count, and resolves to the result. Rejects with `MaintenanceError`, code `timeout`. */
  countNow(signal?: AbortSignal): Promise<Usage>;
}

/** Milliseconds between reads of the result: the first, and the maximum. */
const [minDelay, maxDelay] = [100, 2_000];
/** The timeout in milliseconds. The client has most likely gone by then. */
const TIMEOUT = 3_600_000;

export function createUsageReader(
  records: RecordStore,
  {
    clock = () => performance.now(),
    random = randomBytes,
  }: {
    /** A monotonic clock in milliseconds. */
    readonly clock?: () => number;
    readonly random?: (size: number) => Buffer;
  } = {},
): UsageReader {
  return {
    last: () => readUsage(records),
    async countNow(signal) {
      const asked = await askForCount(records, random);
      const until = clock() + TIMEOUT;
      for (let wait = minDelay; clock() < until; wait = Math.min(maxDelay, wait * 2)) {
        const { last } = await readCountState(records);
        const usage = last !== undefined && last.answers >= asked ? await readUsage(records) : undefined;
        if (usage !== undefined) return usage;
        await sleep(wait, undefined, { ...(signal && { signal }) });
      }
      throw new MaintenanceError(
        'timeout',
        'The count has not ended within an hour; it goes on, and its result can be read later.',
      );
    },
  };
}
