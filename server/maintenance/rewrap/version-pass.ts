import { decodeBucket } from '../../objects/records/bucket-record.ts';
import { after as afterKey, decodeKey, within } from '../../store/keys.ts';
import { objectRecordKey } from '../../objects/operations/commit-change.ts';
import type { Entry, RecordStore } from '../../store/record-store.ts';
import { entries, type Place, placeFrom, type StoredPlace, storedPlace } from '../verify/object-records.ts';

/** The position of a pass over all versions, as its record of progress has it. Older records have no table: that of current objects. */
export interface PassPosition {
  /** The table of the last version: noncurrent versions, or current objects a second time. Absent for the first. */
  readonly table?: 'noncurrent' | 'again';
  /** The last version in the table so far. */
  readonly after?: StoredPlace;
}

interface PassItem {
  readonly entry: Entry;
  readonly place: Place;
  /** The pass continues there after this version. */
  readonly position: PassPosition;
}

/**
 * Yields the records of all objects and noncurrent versions: the current objects, the noncurrent versions, and again the current objects
 * of the buckets that have versions. A version that a write moves to the noncurrent ones comes in the second table. One that a deletion
 * makes current again, behind the pass, comes in the third. Most versions of such buckets come twice.
 */
export async function* versionPass(
  records: RecordStore,
  from: PassPosition,
  signal: AbortSignal | undefined,
): AsyncGenerator<PassItem> {
  if (from.table === undefined) yield* table(records, from, within('o'), signal);
  if (from.table !== 'again') {
    const start = from.table === 'noncurrent' ? from : { table: 'noncurrent' as const };
    yield* table(records, start, within('v'), signal);
  }
  const start = from.table === 'again' ? from : { table: 'again' as const };
  for await (const { key, value } of entries(records, within('b'))) {
    const bucket = String(decodeKey(key)[1]);
    if (decodeBucket(value, bucket).versioning === undefined) continue;
    yield* table(records, start, within('o', bucket), signal);
  }
}

async function* table(
  records: RecordStore,
  { table: name, after }: PassPosition,
  range: { readonly start: Buffer; readonly end: Buffer },
  signal: AbortSignal | undefined,
): AsyncGenerator<PassItem> {
  const next = after && afterKey(objectRecordKey(placeFrom(after)));
  const start = next !== undefined && next.compare(range.start) > 0 ? next : range.start;
  if (start.compare(range.end) >= 0) return;
  for await (const entry of entries(records, { ...range, start })) {
    signal?.throwIfAborted();
    const [, bucket, key, order] = decodeKey(entry.key);
    const place = { bucket: String(bucket), key: String(key), ...(order && { order }) };
    yield { entry, place, position: { ...(name && { table: name }), after: storedPlace(place) } };
  }
}
