import { randomBytes } from 'node:crypto';
import { commitOnce } from '../../store/commits.ts';
import { key } from '../../store/keys.ts';
import type { RecordStore } from '../../store/record-store.ts';
import { decodeRecord, encodeRecord } from '../records/record-format.ts';

/** The space of all segments as the last round of compaction found it, and all that compaction has done. */
export interface SegmentSpace {
  readonly segments: number;
  readonly bytes: number;
  /** Bytes that no body uses, as far as they were counted. */
  readonly garbage: number;
  /** Segments. */
  readonly removed: number;
  /** Bodies. */
  readonly moved: number;
  readonly movedBytes: number;
}

const spaceKey = key('segments', 'space');

/** Resolves to undefined before the first round. */
export async function readSegmentSpace(records: RecordStore): Promise<SegmentSpace | undefined> {
  const entry = await records.get(spaceKey);
  return entry && (decodeRecord(entry.value, 'the space of segments') as SegmentSpace);
}

/** Adds the work of a round. Only the lease holder calls this. */
export async function writeSegmentSpace(
  records: RecordStore,
  sums: Pick<SegmentSpace, 'segments' | 'bytes' | 'garbage'>,
  round: Pick<SegmentSpace, 'removed' | 'moved' | 'movedBytes'>,
): Promise<SegmentSpace> {
  const before = await readSegmentSpace(records);
  const space = {
    ...sums,
    removed: (before?.removed ?? 0) + round.removed,
    moved: (before?.moved ?? 0) + round.moved,
    movedBytes: (before?.movedBytes ?? 0) + round.movedBytes,
  };
  const isSame = before !== undefined && JSON.stringify(before) === JSON.stringify(space);
  if (!isSame) {
    await commitOnce(records, { put: [{ key: spaceKey, value: encodeRecord(space) }], freesSpace: true }, randomBytes);
  }
  return space;
}
