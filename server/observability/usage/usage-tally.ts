import type { BucketRecord } from '../../objects/records/bucket-record.ts';
import { decodeBucket } from '../../objects/records/bucket-record.ts';
import { decodeHead, decodeObject, hasHead, isTiered } from '../../objects/records/object-record.ts';
import type { partsOf } from '../../objects/records/upload-record.ts';
import { isUnreadable } from '../../objects/records/damage.ts';
import { decodeKey } from '../../store/keys.ts';
import { type AlertLimits, AlertFinder, type AlertState, asksForAlerts, type ScanAlert } from './scan-alerts.ts';
import {
  intervalCount,
  intervalOf,
  type TierUsage,
  type Usage,
  versionIntervalCount,
  versionIntervalOf,
} from './usage.ts';

/** The result of a count. */
export interface Counted extends Pick<Usage, 'buckets' | 'unreadable' | 'tiers'> {
  readonly alerts: readonly ScanAlert[];
  /** The records of the buckets whose rules ask for alerts. */
  readonly alerting: ReadonlyMap<string, BucketRecord>;
}

/** The sums of a count so far, as JSON, without those fields that are read again from the records of buckets. */
export interface TallyState {
  readonly rows: readonly (readonly [bucket: string, row: Sums])[];
  readonly tiers: readonly (readonly [tier: string, usage: TierUsage])[];
  readonly unreadable: number;
  readonly alerts?: AlertState;
}

interface Sums {
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

export interface Row extends Sums {
  hasVersions: boolean;
  asksForAlerts: boolean;
}

/** The sums of a count: a row for each bucket. */
export class Tally {
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

  state(): TallyState {
    const rows = [...this.#rows].map(([bucket, { hasVersions: _versions, asksForAlerts: _asks, ...sums }]) => {
      return [bucket, sums] as const;
    });
    const alerts = this.finder && { alerts: this.finder.state() };
    return { rows, tiers: [...this.#tiers], unreadable: this.#unreadable, ...alerts };
  }

  /** Continues a count whose buckets were read again. Those that are gone are left out. */
  restore({ rows, tiers, unreadable, alerts }: TallyState): void {
    for (const [bucket, sums] of rows) {
      const row = this.#rows.get(bucket);
      if (row !== undefined) Object.assign(row, sums);
    }
    for (const [tier, usage] of tiers) this.#tiers.set(tier, usage);
    this.#unreadable = unreadable;
    if (alerts !== undefined) this.finder?.restore(alerts);
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

export function bucketOf(key: Buffer): string {
  return String(decodeKey(key)[1]);
}
