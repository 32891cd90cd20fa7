import type { BlobStore, OpenSegmentSize } from '../../store/blob-store.ts';
import type { RecordStore } from '../../store/record-store.ts';
import { readGarbage } from '../garbage-collection/segment-garbage.ts';

/** An open segment with less garbage than this share of a full one stays open: another file costs more than the space. */
const LEAST = 1 / 32;

/** Returns true for an open segment that is sealed because of its garbage, so that compaction looks at it. */
export function isWasteful({ size, full }: OpenSegmentSize, garbage: number, maxGarbage: number): boolean {
  if (size === 0) return false;
  // No body moves out of a segment without bodies.
  return garbage >= size || (garbage >= LEAST * full && garbage > maxGarbage * size);
}

/**
 * Seals the segment to which this thread appends where too much of it is garbage. Compaction never looks at an open segment, and on a small
 * store the open ones have most of the bytes. Each thread calls this for its own.
 */
export async function sealWastefulSegments({
  records,
  blobs,
  maxGarbage,
}: {
  readonly records: Pick<RecordStore, 'get'>;
  readonly blobs: Pick<BlobStore, 'segments'>;
  /** The share of a segment that may be garbage, from 0 to 1. */
  readonly maxGarbage: number;
}): Promise<void> {
  await blobs.segments?.sealOpen(async (open) => {
    const { garbage } = await readGarbage(records, open.segment);
    return isWasteful(open, garbage.bytes + open.failed, maxGarbage);
  });
}
