import { setImmediate as nextTurn } from 'node:timers/promises';
import { pace } from '../../maintenance/pace.ts';
import { objectSize } from '../../objects/records/object-record.ts';
import { UnreadableRecord } from '../../objects/records/record-format.ts';
import { partsOf } from '../../objects/records/upload-record.ts';
import { decodeKey, prefixOf, within } from '../../store/keys.ts';
import { type RecordStore, scanPages } from '../../store/record-store.ts';
import { intervalCount, intervalOf, type BucketUsage } from './usage.ts';
import { randomBytes } from 'node:crypto';
import { isReadOnly } from '../../store/read-only.ts';
import { type CountState, readCountState, writeUsage } from './usage-record.ts';

interface CountOptions {
  readonly records: RecordStore;
  /** Infinity for as fast as it goes. */
  readonly recordsPerSecond: number;
  readonly signal?: AbortSignal | undefined;
}

/** Records that pass before the count looks at the time: engines that have no pages give them one by one. */
const BREATH = 1_024;

/**
 * Looks at the record of every object and every upload, once each, in the order of keys; memory is that of a page of records and of a
 * row for each bucket. Rejects with the signal's reason when it is stopped.
 */
export async function countUsage(
  options: CountOptions,
): Promise<{ readonly buckets: readonly BucketUsage[]; readonly unreadable: number }> {
  const { records } = options;
  const tally = new Tally();
  const passed = breathing(options);
  for await (const items of scanPages(records, within('b'))) {
    for (const item of items) if (item.kind === 'entry') tally.at(bucketOf(item.key));
    await passed(items.length);
  }
  // Objects of one bucket follow each other: their keys are compared with its beginning, which costs less than to decode them.
  let prefix = prefixOf('o');
  let row: Row | undefined;
  for await (const items of scanPages(records, within('o'))) {
    for (const item of items) {
      if (item.kind !== 'entry') continue;
      if (row === undefined || !item.key.subarray(0, prefix.length).equals(prefix)) {
        const bucket = bucketOf(item.key);
        prefix = prefixOf('o', bucket);
        row = tally.at(bucket);
      }
      tally.addObject(row, item.value);
    }
    await passed(items.length);
  }
  for await (const items of scanPages(records, within('u'))) {
    for (const item of items) {
      if (item.kind !== 'entry') continue;
      const [, bucket, , uploadId] = decodeKey(item.key).map(String);
      const upload = tally.at(bucket ?? '');
      upload.uploads += 1;
      await tally.addParts(upload, partsOf(records, uploadId ?? ''), passed);
    }
    await passed(items.length);
  }
  return tally.counted();
}

/** Waits by the rate, lets others have their turn, and stops where it is told to. */
function breathing({ recordsPerSecond, signal }: CountOptions): (records: number) => Promise<void> {
  const wait = pace(recordsPerSecond, { signal });
  let sinceThen = 0;
  return async (records) => {
    sinceThen += records;
    if (sinceThen < BREATH) return;
    const count = sinceThen;
    sinceThen = 0;
    signal?.throwIfAborted();
    await nextTurn();
    await wait(count);
  };
}

interface Row {
  objects: number;
  bytes: number;
  uploads: number;
  uploadBytes: number;
  readonly sizes: number[];
}

class Tally {
  readonly #rows = new Map<string, Row>();
  #unreadable = 0;

  at(bucket: string): Row {
    const known = this.#rows.get(bucket);
    if (known !== undefined) return known;
    const sizes = Array.from<number>({ length: intervalCount }).fill(0);
    const row = { objects: 0, bytes: 0, uploads: 0, uploadBytes: 0, sizes };
    this.#rows.set(bucket, row);
    return row;
  }

  addObject(row: Row, value: Buffer): void {
    row.objects += 1;
    const size = this.#read(() => objectSize(value));
    if (size === undefined) return;
    row.bytes += size;
    const interval = intervalOf(size);
    row.sizes[interval] = (row.sizes[interval] ?? 0) + 1;
  }

  async addParts(
    row: Row,
    parts: ReturnType<typeof partsOf>,
    passed: (records: number) => Promise<void>,
  ): Promise<void> {
    try {
      for await (const { record } of parts) {
        row.uploadBytes += record.size;
        await passed(1);
      }
    } catch (error) {
      this.#skip(error);
    }
  }

  counted(): { readonly buckets: readonly BucketUsage[]; readonly unreadable: number } {
    const buckets = [...this.#rows].map(([bucket, row]) => ({ bucket, ...row }));
    return { buckets: buckets.toSorted((a, b) => (a.bucket < b.bucket ? -1 : 1)), unreadable: this.#unreadable };
  }

  #read<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      this.#skip(error);
      return undefined;
    }
  }

  /** A damaged record, or one of a newer server, is the scrub's matter: it does not end the count. */
  #skip(error: unknown): void {
    if (!(error instanceof UnreadableRecord)) throw error;
    this.#unreadable += 1;
  }
}

function bucketOf(key: Buffer): string {
  return String(decodeKey(key)[1]);
}

interface UsageRoundsOptions {
  /** Milliseconds from the end of a count to the next one at the earliest; 0: only when somebody asks. */
  readonly cycleMs: number;
  readonly recordsPerSecond: number;
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
  readonly clock?: () => number;
  readonly random?: (size: number) => Buffer;
}

/** The holder of the lease and its records, whose commits are fenced. */
interface UsageRound {
  readonly records: RecordStore;
  readonly signal?: AbortSignal;
}

/** A count is followed by a rest of so many times what it took: over a large store it goes on for a tenth of the time, not for ever. */
const REST = 9;

/**
 * A round counts once, where a count is due, and keeps the result; it does nothing otherwise. A count that is cut off begins anew with
 * the next round.
 */
export function usageRounds(options: UsageRoundsOptions): (round: UsageRound) => Promise<void> {
  const { cycleMs, recordsPerSecond, log, clock = Date.now, random = randomBytes } = options;
  return async ({ records, signal }) => {
    const began = clock();
    const state = await readCountState(records);
    // The last result stays right while nothing changes, and another one could not be kept.
    if (!isDue(state, began, cycleMs) || (await isReadOnly(records))) return;
    const { buckets, unreadable } = await countUsage({ records, recordsPerSecond, signal });
    const ended = clock();
    await writeUsage(records, { began, ended, answers: state.asked, unreadable, buckets }, random);
    if (unreadable > 0) log.warn({ unreadable }, 'some records could not be read, and are missing in the usage');
  };
}

/** Whether to count now. */
export function isDue({ last, asked }: CountState, now: number, cycleMs: number): boolean {
  if (asked > (last?.answers ?? 0)) return true;
  if (cycleMs === 0) return false;
  if (last === undefined) return true;
  const { began, ended } = last;
  // A clock that was set back would have everybody wait until it comes there again.
  return now < began || now - ended >= Math.max(cycleMs, REST * (ended - began));
}
