import type { BlobId, SegmentId } from '../../store/blob-store.ts';
import { paddedLength, placeOf } from '../../store/packed-id.ts';
import { decodeKey, within } from '../../store/keys.ts';
import type { Key, RecordStore } from '../../store/record-store.ts';
import { decodeRecord, encodeRecord, recordKeys } from '../records/record-format.ts';

/** The bytes of a segment that no body uses, with their padding. `counted` is the time of the last exact count, which includes orphans. */
export interface Garbage {
  readonly bytes: number;
  readonly counted?: number;
}

/**
 * Counts bodies as garbage, in the commit that forgets their removal. Returns the changes of that commit. Only the lease holder calls
 * this.
 */
export async function countGarbage(
  records: RecordStore,
  blobs: readonly BlobId[],
): Promise<readonly { readonly key: Key; readonly value: Buffer }[]> {
  const sums = new Map<SegmentId, number>();
  for (const blob of blobs) {
    const place = placeOf(blob);
    if (place !== undefined) sums.set(place.segment, (sums.get(place.segment) ?? 0) + paddedLength(place.length));
  }
  return Promise.all(
    [...sums].map(async ([segment, bytes]) => {
      const before = await readGarbage(records, segment);
      return putGarbage(segment, { ...before, bytes: before.bytes + bytes });
    }),
  );
}

async function readGarbage(records: RecordStore, segment: SegmentId): Promise<Garbage> {
  const entry = await records.get(recordKeys.garbage(segment));
  return entry === undefined ? { bytes: 0 } : (decodeRecord(entry.value, `segment ${segment}`) as Garbage);
}

export function putGarbage(segment: SegmentId, garbage: Garbage): { readonly key: Key; readonly value: Buffer } {
  return { key: recordKeys.garbage(segment), value: encodeRecord(garbage) };
}

export async function readAllGarbage(records: RecordStore): Promise<ReadonlyMap<SegmentId, Garbage>> {
  const found = new Map<SegmentId, Garbage>();
  for await (const item of records.scan(within('g'))) {
    if (item.kind !== 'entry') continue;
    const segment = String(decodeKey(item.key)[1]) as SegmentId;
    found.set(segment, decodeRecord(item.value, `segment ${segment}`) as Garbage);
  }
  return found;
}
