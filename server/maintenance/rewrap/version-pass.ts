import { decodeCounter } from '../../store/commits.ts';
import { after as afterKey, decodeKey, within } from '../../store/keys.ts';
import type { Entry, RecordStore } from '../../store/record-store.ts';
import { MaintenanceError } from '../maintenance-error.ts';
import { type Pace, unlimited } from '../pace.ts';
import { entries, named, type Place, placeFrom, type StoredPlace, storedPlace } from '../verify/object-records.ts';
import { objectRecordKey } from '../../objects/records/version-place.ts';

/** The position of a pass over all versions, as its record of progress has it. Older records have no table: that of current objects. */
export interface PassPosition {
  /** The table of the last version: noncurrent versions, or buckets that are read again. Absent for the current objects. */
  readonly table?: 'noncurrent' | 'again';
  /** The last version in the table so far. Buckets are read again from the first one. */
  readonly after?: StoredPlace;
}

interface PassItem {
  readonly entry: Entry;
  readonly place: Place;
  /** The pass continues there after this version. */
  readonly position: PassPosition;
}

/** So often are buckets read again before the pass gives up. */
const MAX_ROUNDS = 100;
/** The records of which the pass reports the reading at once. */
const PACED_RECORDS = 256;

/**
 * Yields the records of all objects and noncurrent versions: first the current objects, then the noncurrent versions. A version that a write
 * makes noncurrent meanwhile comes in the second table. One that a deletion makes current can escape, and is counted in the record of its
 * bucket: such a bucket is read again, until none of its versions became current while it was read. Its versions come more than once.
 * `reads` limits the records a second.
 *
 * @throws MaintenanceError `versions-move` where versions become current again in each of a hundred rounds
 */
export async function* versionPass(
  records: RecordStore,
  from: PassPosition,
  signal: AbortSignal | undefined,
  reads: Pace = unlimited,
): AsyncGenerator<PassItem> {
  // A pass that was interrupted has not the counts of its begin.
  const isNew = from.table === undefined && from.after === undefined;
  let before = isNew ? await promotions(records) : undefined;
  if (from.table === undefined) yield* table(records, from, within('o'), signal, reads);
  if (from.table !== 'again') {
    const start = from.table === 'noncurrent' ? from : { table: 'noncurrent' as const };
    yield* table(records, start, within('v'), signal, reads);
  }
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const now = await promotions(records);
    const moved = [...now].filter(([bucket, count]) => before?.get(bucket) !== count);
    if (moved.length === 0) return;
    before = now;
    for (const [bucket] of moved) {
      yield* table(records, { table: 'again' }, within('o', bucket), signal, reads);
      yield* table(records, { table: 'again' }, within('v', bucket), signal, reads);
    }
  }
  throw new MaintenanceError(
    'versions-move',
    'versions became current again while they were read, a hundred times: try again when fewer versions are deleted',
  );
}

/** Reads the counts of promoted versions by their buckets. Buckets without any are absent. */
async function promotions(records: RecordStore): Promise<ReadonlyMap<string, bigint>> {
  const counts = new Map<string, bigint>();
  for await (const { key, value } of entries(records, within('promotions'))) {
    counts.set(String(decodeKey(key)[1]), decodeCounter(value));
  }
  return counts;
}

async function* table(
  records: RecordStore,
  { table: name, after }: PassPosition,
  range: { readonly start: Buffer; readonly end: Buffer },
  signal: AbortSignal | undefined,
  reads: Pace,
): AsyncGenerator<PassItem> {
  const next = after && afterKey(objectRecordKey(placeFrom(after)));
  const start = next !== undefined && next.compare(range.start) > 0 ? next : range.start;
  if (start.compare(range.end) >= 0) return;
  let count = 0;
  for await (const entry of entries(records, { ...range, start })) {
    signal?.throwIfAborted();
    count += 1;
    if (count % PACED_RECORDS === 0) await reads(PACED_RECORDS, signal);
    const [, bucket, key, order] = decodeKey(entry.key);
    const place = named({ bucket: String(bucket), key: String(key), ...(order && { order }) }, entry);
    yield { entry, place, position: { ...(name && { table: name }), after: storedPlace(place) } };
  }
}
