import { type EventHub, noEventHub } from '../../objects/events/object-event.ts';
import { type AlertLimits, AlertFinder, asksForAlerts, reportAlerts, type ScanAlert } from './scan-alerts.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Pace } from '../../maintenance/pace.ts';
import { type BucketRecord, decodeBucket } from '../../objects/records/bucket-record.ts';
import { decodeHead, hasHead, decodeObject, isTiered } from '../../objects/records/object-record.ts';
import { partsOf } from '../../objects/records/upload-record.ts';
import { decodeKey, prefixOf, within } from '../../store/keys.ts';
import { type RecordStore, scanPages } from '../../store/record-store.ts';
import {
  intervalCount,
  intervalOf,
  type TierUsage,
  type Usage,
  versionIntervalCount,
  versionIntervalOf,
} from './usage.ts';
import { randomBytes } from 'node:crypto';
import { isReadOnly } from '../../store/commits.ts';
import { type CountState, readCountState, writeUsage } from './usage-record.ts';
import { isUnreadable } from '../../objects/stored-data-error.ts';

interface CountOptions {
  readonly records: RecordStore;
  /** Waits until more records may be read. */
  readonly reads: Pace;
  readonly signal?: AbortSignal | undefined;
  /** The limits of alerts; no alerts are looked for without them. */
  readonly limits?: AlertLimits | undefined;
}

/** The result of a count. */
interface Counted extends Pick<Usage, 'buckets' | 'unreadable' | 'tiers'> {
  readonly alerts: readonly ScanAlert[];
  /** The records of the buckets whose rules ask for alerts. */
  readonly alerting: ReadonlyMap<string, BucketRecord>;
}

/** The count of records after which the counter checks the time and yields: engines without pages return records one by one. */
const YIELD_INTERVAL = 1_024;

/**
 * Counts every version and every upload once, in the order of keys. It keeps a page of records and a row for each bucket in memory.
 * Rejects with the reason of the signal.
 */
export async function countUsage(options: CountOptions): Promise<Counted> {
  const { records } = options;
  const tally = new Tally(options.limits);
  const passed = rateLimiter(options);
  for await (const items of scanPages(records, within('b'))) {
    for (const item of items) if (item.kind === 'entry') tally.addBucket(bucketOf(item.key), item.value);
    await passed(items.length);
  }
  await countTable(records, 'o', tally, passed, (row, value, key) => tally.addObject(row, value, key));
  tally.finder?.endObjects();
  await countTable(records, 'l', tally, passed, (row) => tally.addCurrentMarker(row));
  const isSameKey = keyGroups();
  await countTable(records, 'v', tally, passed, (row, value, key) =>
    tally.addNoncurrent(row, value, key, isSameKey(key)),
  );
  tally.finder?.endVersions();
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

/** The records of one bucket follow each other: comparing a prefix costs less than decoding each key. */
async function countTable(
  records: RecordStore,
  table: string,
  tally: Tally,
  passed: (records: number) => Promise<void>,
  add: (row: Row, value: Buffer, key: Buffer) => void,
): Promise<void> {
  let prefix = prefixOf(table);
  let row: Row | undefined;
  for await (const items of scanPages(records, within(table))) {
    for (const item of items) {
      if (item.kind !== 'entry') continue;
      if (row === undefined || !item.key.subarray(0, prefix.length).equals(prefix)) {
        const bucket = bucketOf(item.key);
        prefix = prefixOf(table, bucket);
        row = tally.at(bucket);
      }
      add(row, item.value, item.key);
    }
    await passed(items.length);
  }
}

/** Returns a function that reports if a record under `v` is of the same key as the one before it. */
function keyGroups(): (recordKey: Buffer) => boolean {
  let prefix: Buffer | undefined;
  return (recordKey) => {
    if (prefix !== undefined && recordKey.subarray(0, prefix.length).equals(prefix)) return true;
    const [, bucket = '', objectKey = ''] = decodeKey(recordKey).map(String);
    prefix = prefixOf('v', bucket, objectKey);
    return false;
  };
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

interface Row {
  hasVersions: boolean;
  asksForAlerts: boolean;
  objects: number;
  bytes: number;
  versions: number;
  deleteMarkers: number;
  currentMarkers: number;
  uploads: number;
  uploadBytes: number;
  readonly sizes: number[];
  /** Keys with noncurrent versions, by the interval of all their versions. The others have one. */
  readonly keys: number[];
  /** The versions of the key that is read, the current one among them. */
  versionsOfKey: number;
}

class Tally {
  readonly #rows = new Map<string, Row>();
  readonly #tiers = new Map<string, TierUsage>();
  readonly #alerting = new Map<string, BucketRecord>();
  /** Undefined where no alerts are looked for. */
  readonly finder: AlertFinder | undefined;
  #unreadable = 0;

  constructor(limits: AlertLimits | undefined) {
    this.finder = limits && new AlertFinder(limits);
  }

  at(bucket: string): Row {
    const known = this.#rows.get(bucket);
    if (known !== undefined) return known;
    const sizes = Array.from<number>({ length: intervalCount }).fill(0);
    const none = { objects: 0, bytes: 0, versions: 0, deleteMarkers: 0, currentMarkers: 0, uploads: 0, uploadBytes: 0 };
    const keys = Array.from<number>({ length: versionIntervalCount }).fill(0);
    const row = { hasVersions: false, asksForAlerts: false, ...none, sizes, keys, versionsOfKey: 0 };
    this.#rows.set(bucket, row);
    return row;
  }

  addBucket(bucket: string, value: Buffer): void {
    const row = this.at(bucket);
    const record = this.#read(() => decodeBucket(value, bucket));
    row.hasVersions = record?.versioning !== undefined;
    if (this.finder === undefined || record === undefined || !asksForAlerts(record.notification)) return;
    row.asksForAlerts = true;
    this.#alerting.set(bucket, record);
  }

  addObject(row: Row, value: Buffer, key: Buffer): void {
    if (row.asksForAlerts) this.finder?.addObject(key);
    row.objects += 1;
    if (row.hasVersions) row.versions += 1;
    const version = this.#read(() => readVersion(value));
    if (version === undefined) return;
    row.bytes += version.size;
    this.#addToTier(version, 1);
    addTo(row.sizes, intervalOf(version.size), 1);
  }

  addMarker(row: Row): void {
    row.versions += 1;
    row.deleteMarkers += 1;
  }

  addCurrentMarker(row: Row): void {
    row.currentMarkers += 1;
    this.addMarker(row);
  }

  addNoncurrent(row: Row, value: Buffer, key: Buffer, isSameKey: boolean): void {
    if (isSameKey) addTo(row.keys, versionIntervalOf(row.versionsOfKey), -1);
    row.versionsOfKey = isSameKey ? row.versionsOfKey + 1 : 2;
    addTo(row.keys, versionIntervalOf(row.versionsOfKey), 1);
    const version = this.#read(() => readVersion(value));
    if (row.asksForAlerts) this.finder?.addNoncurrent(key, version?.size ?? 0, isSameKey);
    if (version?.deleteMarker === true) {
      this.addMarker(row);
      return;
    }
    row.versions += 1;
    if (version === undefined) return;
    row.bytes += version.size;
    this.#addToTier(version, 0);
  }

  #addToTier({ size, tier }: CountedVersion, objects: number): void {
    if (tier === undefined) return;
    const before = this.#tiers.get(tier) ?? { objects: 0, versions: 0, bytes: 0 };
    this.#tiers.set(tier, {
      objects: before.objects + objects,
      versions: before.versions + 1,
      bytes: before.bytes + size,
    });
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

  counted(): Counted {
    const buckets = [...this.#rows].map(([bucket, row]) => {
      const { hasVersions, asksForAlerts: _asks, currentMarkers, versionsOfKey: _, keys, ...sums } = row;
      const several = keys.reduce((sum, count) => sum + count, 0);
      // Each key has one current version. Between the tables some may have changed.
      addTo(keys, versionIntervalOf(1), Math.max(0, row.objects + currentMarkers - several));
      return { bucket, ...sums, keys: hasVersions ? keys : [] };
    });
    return {
      buckets: buckets.toSorted((a, b) => (a.bucket < b.bucket ? -1 : 1)),
      unreadable: this.#unreadable,
      tiers: Object.fromEntries(this.#tiers),
      alerts: this.finder?.alerts ?? [],
      alerting: this.#alerting,
    };
  }

  #read<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      this.#skip(error);
      return undefined;
    }
  }

  /** A damaged record, or one of a newer server, does not end the count: the scrub reports it. */
  #skip(error: unknown): void {
    if (!isUnreadable(error)) throw error;
    this.#unreadable += 1;
  }
}

function addTo(counts: number[], index: number, difference: number): void {
  counts[index] = (counts[index] ?? 0) + difference;
}

/** The facts of an object or a noncurrent version that are counted. */
interface CountedVersion {
  readonly size: number;
  readonly deleteMarker: boolean;
  /** The name of the tier that has the body. */
  readonly tier?: string | undefined;
}

/** The name of a tier is in the JSON of the record, which is not decoded where the head says that it has nothing of interest. */
function readVersion(value: Buffer): CountedVersion {
  if (hasHead(value)) {
    const { size, deleteMarker, complete } = decodeHead(value, 'a version');
    if (complete) return { size, deleteMarker };
  }
  const record = decodeObject(value, '', '');
  const { size, deleteMarker = false, headers } = record;
  return { size, deleteMarker, tier: isTiered(record) ? headers.storageClass : undefined };
}

function bucketOf(key: Buffer): string {
  return String(decodeKey(key)[1]);
}

interface UsageRoundsOptions {
  /** The minimum of milliseconds from the end of a count to the next one; 0 counts only on request. */
  readonly cycleMs: number;
  readonly reads: Pace;
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
  readonly clock?: () => number;
  readonly random?: (size: number) => Buffer;
  readonly limits?: AlertLimits;
  /** The queues of events that take no more. */
  readonly events?: EventHub;
}

/** The lease holder and its records, whose commits are fenced. */
interface UsageRound {
  readonly records: RecordStore;
  readonly signal?: AbortSignal;
}

/** A rest of this many times the duration follows a count: counting a large store takes at most a tenth of the time. */
const REST_FACTOR = 9;

/** A round counts once if a count is due, and saves the result. The next round repeats an interrupted count from the start. */
export function usageRounds(options: UsageRoundsOptions): (round: UsageRound) => Promise<void> {
  const { cycleMs, reads, log, clock = Date.now, random = randomBytes, limits, events = noEventHub } = options;
  return async ({ records, signal }) => {
    const began = clock();
    const state = await readCountState(records);
    // The last result stays right while nothing changes, and a new one could not be saved.
    if (!isDue(state, began, cycleMs) || (await isReadOnly(records))) return;
    const counted = await countUsage({ records, reads, signal, limits });
    const { buckets, unreadable, tiers } = counted;
    const ended = clock();
    await writeUsage(records, { began, ended, answers: state.asked, unreadable, tiers, buckets }, random);
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
