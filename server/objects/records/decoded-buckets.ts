import type { Entry } from '../../store/record-store.ts';
import { decodeBucket, type StoredBucket } from './bucket-record.ts';

/** Buckets whose record is kept decoded. Beyond this many the one that was decoded first goes. */
const MOST_KEPT = 1000;

/**
 * Decodes a bucket's record once for each of its revisions. Every write reads the record, so nothing here is ever out of date; only
 * the parsing is spared, which for a bucket with a long policy costs more than the rest of the write.
 */
export class DecodedBuckets {
  readonly #known = new Map<string, StoredBucket>();

  decode(entry: Entry, bucket: string): StoredBucket {
    const known = this.#known.get(bucket);
    if (known?.revision === entry.revision) return known;
    const stored = { record: decodeBucket(entry.value, bucket), revision: entry.revision };
    this.#known.delete(bucket);
    this.#known.set(bucket, stored);
    if (this.#known.size > MOST_KEPT) {
      const [oldest] = this.#known.keys();
      if (oldest !== undefined) this.#known.delete(oldest);
    }
    return stored;
  }
}
