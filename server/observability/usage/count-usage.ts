import type { StructuredLog } from '../../../platform/output/structured-log.ts';
import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Pace } from '../../maintenance/pace.ts';
import { partsOf } from '../../objects/records/upload-record.ts';
import { isReadOnly } from '../../store/commits.ts';
import { after, decodeKey, prefixOf, within } from '../../store/keys.ts';
import { type RecordStore, type ScanItem, scanPages } from '../../store/record-store.ts';
import { type CountProgress, isUsable, readCountProgress, writeCountProgress } from './count-progress.ts';
import { type AlertLimits, reportAlerts } from './scan-alerts.ts';
import { type CountState, readCountState, writeUsage } from './usage-record.ts';
import { bucketOf, type Counted, type Row, Tally } from './usage-tally.ts';
import type { EventHub } from '../../objects/context/event-hub.ts';
import { noEventHub } from '../../objects/context/event-hub.ts';

interface CountOptions {
  readonly records: RecordStore;
  /** Waits until more records may be read. */
  readonly reads: Pace;
  readonly signal?: AbortSignal | undefined;
  /** The limits of alerts; no alerts are looked for without them. */
  readonly limits?: AlertLimits | undefined;
  /** The count continues there. */
  readonly from?: Pick<CountProgress, 'table' | 'after' | 'tally'> | undefined;
  /** Called when a page of records is counted. */
  readonly checkpoint?: (progress: () => Pick<CountProgress, 'table' | 'after' | 'tally'>) => Promise<void>;
}

/** The count of records after which the counter checks the time and yields: engines without pages return records one by one. */
const YIELD_INTERVAL = 1_024;

/**
 * Counts every version and every upload once, in the order of keys. It keeps a page of records and a row for each bucket in memory.
 * Rejects with the reason of the signal.
 */
export async function countUsage(options: CountOptions): Promise<Counted> {
  const { records, from } = options;
  const tally = new Tally(options.limits);
  const passed = rateLimiter(options);
  for await (const items of scanPages(records, within('b'))) {
    for (const item of items) if (item.kind === 'entry') tally.addBucket(bucketOf(item.key), item.value);
    await passed(items.length);
  }
  if (from !== undefined) tally.restore(from.tally);
  const count = new Count(options, tally, passed);
  await count.table('o', (row, { value, key }) => tally.addObject(row, value, key));
  tally.finder?.endObjects();
  await count.table('l', (row) => tally.addCurrentMarker(row));
  const isSameKey = keyGroups(from?.table === 'v' ? from.after : undefined);
  await count.table('v', (row, { value, key }) => tally.addNoncurrent(row, value, key, isSameKey(key)));
  tally.finder?.endVersions();
  await count.table('u', async (row, { key }) => {
    const [, , , uploadId = ''] = decodeKey(key).map(String);
    row.uploads += 1;
    await tally.addParts(row, partsOf(records, uploadId), passed);
  });
  return tally.counted();
}

const tables: readonly CountProgress['table'][] = ['o', 'l', 'v', 'u'];

type Entry = Extract<ScanItem, { readonly kind: 'entry' }>;

class Count {
  readonly #options: CountOptions;
  readonly #tally: Tally;
  readonly #passed: (records: number) => Promise<void>;

  constructor(options: CountOptions, tally: Tally, passed: (records: number) => Promise<void>) {
    this.#options = options;
    this.#tally = tally;
    this.#passed = passed;
  }

  /** The records of one bucket follow each other: comparing a prefix costs less than decoding each key. */
  async table(table: CountProgress['table'], add: (row: Row, entry: Entry) => Promise<void> | void): Promise<void> {
    const { records, from, checkpoint } = this.#options;
    if (from !== undefined && tables.indexOf(table) < tables.indexOf(from.table)) return;
    const range = within(table);
    const start = from?.table === table ? after(from.after) : range.start;
    let prefix = prefixOf(table);
    let row: Row | undefined;
    for await (const items of scanPages(records, { ...range, start })) {
      let last: Buffer | undefined;
      for (const item of items) {
        if (item.kind !== 'entry') continue;
        if (row === undefined || !item.key.subarray(0, prefix.length).equals(prefix)) {
          const bucket = bucketOf(item.key);
          prefix = prefixOf(table, bucket);
          row = this.#tally.at(bucket);
        }
        const added = add(row, item);
        if (added !== undefined) await added;
        last = item.key;
      }
      await this.#passed(items.length);
      const reached = last;
      if (reached !== undefined)
        await checkpoint?.(() => ({ table, after: Buffer.from(reached), tally: this.#tally.state() }));
    }
  }
}

/** Returns a function that reports if a record under `v` is of the same key as the one before it; `before` is the one before the first. */
function keyGroups(before: Buffer | undefined): (recordKey: Buffer) => boolean {
  let prefix: Buffer | undefined;
  const isSame = (recordKey: Buffer) => {
    if (prefix !== undefined && recordKey.subarray(0, prefix.length).equals(prefix)) return true;
    const [, bucket = '', objectKey = ''] = decodeKey(recordKey).map(String);
    prefix = prefixOf('v', bucket, objectKey);
    return false;
  };
  if (before !== undefined) isSame(before);
  return isSame;
}

/** Returns a function that limits the rate, yields to the event loop, and stops on the signal. */
function rateLimiter({ reads, signal }: CountOptions): (records: number) => Promise<void> {
  let sinceThen = 0;
  return async (records) => {
    sinceThen += records;
    if (sinceThen < YIELD_INTERVAL) return;
    const count = sinceThen;
    sinceThen = 0;
    signal?.throwIfAborted();
    await nextTurn();
    await reads(count, signal);
  };
}

interface UsageRoundsOptions {
  /** The minimum of milliseconds from the end of a count to the next one; 0 counts only on request. */
  readonly cycleMs: number;
  readonly reads: Pace;
  readonly log: Pick<StructuredLog, 'info' | 'warn'>;
  readonly clock?: () => number;
  readonly random?: (size: number) => Buffer;
  readonly limits?: AlertLimits;
  /** The queues of events that take no more. */
  readonly events?: EventHub;
  /** The minimum of milliseconds between two saves of how far a count is. */
  readonly saveMs?: number;
}

/** The lease holder and its records, whose commits are fenced. */
interface UsageRound {
  readonly records: RecordStore;
  readonly signal?: AbortSignal;
}

/** A rest of this many times the duration follows a count: counting a large store takes at most a tenth of the time. */
const REST_FACTOR = 9;

/** Milliseconds between two saves, and the share of the time that they may take: the progress has all sums of all buckets. */
const SAVE_MS = 30_000;
const SAVE_FACTOR = 50;

/** A round counts once if a count is due, and saves the result. The next round continues an interrupted count. */
export function usageRounds(options: UsageRoundsOptions): (round: UsageRound) => Promise<void> {
  const {
    cycleMs,
    reads,
    log,
    clock = Date.now,
    random = randomBytes,
    limits,
    events = noEventHub,
    saveMs = SAVE_MS,
  } = options;
  return async ({ records, signal }) => {
    const now = clock();
    const state = await readCountState(records);
    const found = await readCountProgress(records);
    const from = found !== undefined && isUsable(found, state, now) ? found : undefined;
    // The last result stays right while nothing changes, and a new one could not be saved.
    if ((from === undefined && !isDue(state, now, cycleMs)) || (await isReadOnly(records))) return;
    const { began, answers } = from ?? { began: now, answers: state.asked };
    let nextSave = now + saveMs;
    const checkpoint = async (progress: () => Pick<CountProgress, 'table' | 'after' | 'tally'>) => {
      const start = clock();
      if (start < nextSave) return;
      await writeCountProgress(records, { began, answers, ...progress() }, random);
      const end = clock();
      nextSave = end + Math.max(saveMs, SAVE_FACTOR * (end - start));
    };
    const counted = await countUsage({ records, reads, signal, limits, from, checkpoint });
    const { buckets, unreadable, tiers } = counted;
    const ended = clock();
    await writeUsage(records, { began, ended, answers, unreadable, tiers, buckets }, random);
    await reportAlerts({ records, random, events, clock }, counted.alerts, (bucket) => counted.alerting.get(bucket));
    if (unreadable > 0) log.warn({ unreadable }, 'some records could not be read, and are missing in the usage');
  };
}

/** Reports if a count is due. */
export function isDue({ last, asked }: CountState, now: number, cycleMs: number): boolean {
  if (asked > (last?.answers ?? 0)) return true;
  if (cycleMs === 0) return false;
  if (last === undefined) return true;
  const { began, ended } = last;
  // After a clock was set back, a count would otherwise not be due for a long time.
  return now < began || now - ended >= Math.max(cycleMs, REST_FACTOR * (ended - began));
}
