import type { BlobId, SegmentId } from '../../store/blob-store.ts';
import { paddedLength, placeOf } from '../../store/packed-id.ts';
import { decodeKey, within } from '../../store/keys.ts';
import type { Batch, Expectation, Key, RecordStore } from '../../store/record-store.ts';
import { decodeRecord, encodeRecord, recordKeys } from '../records/record-format.ts';
import { ORPHAN_GRACE_PERIOD } from './orphan-grace-period.ts';

/** The bytes of a segment that no body uses, with their padding. */
export interface Garbage {
  readonly bytes: number;
  /** The time of the last exact count, which includes orphans. */
  readonly counted?: number;
  /**
   * The bytes that no removal was counted for, and the time at which they were found first. An upload that was killed leaves them. So do records
   * that are older than the bodies: then they are the bodies of objects, which the right records name.
   */
  readonly unknown?: { readonly bytes: number; readonly since: number };
}

/** Returns those of the unknown bytes of a segment that must stay for now: a wrong restore can be undone for this long. */
export function keptUnknown({ unknown }: Garbage, now: number): number {
  return unknown === undefined || now - unknown.since >= ORPHAN_GRACE_PERIOD ? 0 : unknown.bytes;
}

/**
 * Returns the changes and expectations that count bodies as garbage, for the commit that forgets their removal. The expectations fail where
 * compaction has counted a segment meanwhile. Only the lease holder calls this.
 */
export async function countGarbage(
  records: RecordStore,
  blobs: readonly BlobId[],
): Promise<Required<Pick<Batch, 'expect' | 'put'>>> {
  const sums = new Map<SegmentId, number>();
  for (const blob of blobs) {
    const place = placeOf(blob);
    if (place !== undefined) sums.set(place.segment, (sums.get(place.segment) ?? 0) + paddedLength(place.length));
  }
  const changes = await Promise.all(
    [...sums].map(async ([segment, bytes]) => {
      const { garbage, expect } = await readGarbage(records, segment);
      return { expect, put: putGarbage(segment, { ...garbage, bytes: garbage.bytes + bytes }) };
    }),
  );
  return { expect: changes.map(({ expect }) => expect), put: changes.map(({ put }) => put) };
}

/** `expect` fails in a commit after another one that counts the same segment. */
export async function readGarbage(
  records: Pick<RecordStore, 'get'>,
  segment: SegmentId,
): Promise<{ readonly garbage: Garbage; readonly expect: Expectation }> {
  const key = recordKeys.garbage(segment);
  const entry = await records.get(key);
  if (entry === undefined) return { garbage: { bytes: 0 }, expect: { kind: 'absent', key } };
  const garbage = decodeRecord(entry.value, `segment ${segment}`) as Garbage;
  return { garbage, expect: { kind: 'revision', key, revision: entry.revision } };
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
