import { decodeRecord, encodeRecord } from '../../objects/records/record-format.ts';
import { commitOnce } from '../../store/commits.ts';
import { decodeKey, key, prefixOf, within } from '../../store/keys.ts';
import type { RecordStore } from '../../store/record-store.ts';
import type { UsageReader } from './usage-record.ts';

/** Days that are kept, and buckets of each day that have a row of their own: the largest ones. */
const keptDays = 90;
const maxBuckets = 50;
const dayMs = 86_400_000;

/** The usage of the buckets at the last count of a day (UTC). */
interface UsageDay {
  /** `2026-11-24` */
  readonly day: string;
  readonly objects: number;
  readonly bytes: number;
  /** The largest buckets first. */
  readonly buckets: readonly { readonly bucket: string; readonly objects: number; readonly bytes: number }[];
}

interface UsageHistoryOptions {
  readonly records: RecordStore;
  readonly usage: Pick<UsageReader, 'last'>;
  readonly random: (size: number) => Buffer;
}

/** The usage of the last 90 days by bucket, in one record of at most some KiB for each day. */
export class UsageHistory {
  readonly #options: UsageHistoryOptions;
  #written = 0;

  constructor(options: UsageHistoryOptions) {
    this.#options = options;
  }

  /** Writes the last count, if it is a new one. All servers would write the same record. */
  async take(): Promise<void> {
    const { records, usage, random } = this.#options;
    const last = await usage.last();
    if (last === undefined || last.ended <= this.#written) return;
    const day = dayOf(last.ended);
    const rows = last.buckets
      .toSorted((a, b) => b.bytes - a.bytes)
      .slice(0, maxBuckets)
      .map(({ bucket, objects, bytes }) => [bucket, objects, bytes] as const);
    const put = [
      { key: key('usage', 'day', day), value: encodeRecord({ objects: last.objects, bytes: last.bytes, rows }) },
    ];
    const old: Buffer[] = [];
    const end = prefixOf('usage', 'day', dayOf(last.ended - keptDays * dayMs));
    for await (const item of records.scan({ start: prefixOf('usage', 'day'), end, limit: 100 })) {
      if (item.kind === 'entry') old.push(item.key);
    }
    await commitOnce(records, { put, delete: old }, random);
    this.#written = last.ended;
  }

  /** Returns the days in order. */
  async read(): Promise<readonly UsageDay[]> {
    const days: UsageDay[] = [];
    for await (const item of this.#options.records.scan(within('usage', 'day'))) {
      if (item.kind !== 'entry') continue;
      const { rows, ...sums } = decodeRecord(item.value, 'the usage of a day') as StoredDay;
      const buckets = rows.map(([bucket, objects, bytes]) => ({ bucket, objects, bytes }));
      days.push({ day: String(decodeKey(item.key)[2]), ...sums, buckets });
    }
    return days;
  }
}

interface StoredDay extends Pick<UsageDay, 'objects' | 'bytes'> {
  readonly rows: readonly (readonly [bucket: string, objects: number, bytes: number])[];
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
