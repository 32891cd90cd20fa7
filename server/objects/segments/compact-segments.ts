import { randomBytes } from 'node:crypto';
import type { Logger } from '../../../platform/logger.ts';
import { commitOnce } from '../../store/commits.ts';
import type { BlobId, BlobStore, ListedSegment, SegmentId } from '../../store/blob-store.ts';
import { after, decodeKey } from '../../store/keys.ts';
import { idsIn, paddedLength, placeOf } from '../../store/packed-id.ts';
import { type Key, type RecordStore, StoreUnavailable } from '../../store/record-store.ts';
import { isGarbageCollectionHeld, ORPHAN_GRACE_PERIOD, REMOVAL_DELAY } from '../garbage-collection.ts';
import type { BlobOwner } from '../contract/objects.ts';
import { decodeRecord, encodeRecord, recordKeys } from '../records/record-format.ts';
import { type Garbage, putGarbage, readAllGarbage } from './garbage.ts';
import { type SegmentSpace, writeSegmentSpace } from './segment-space.ts';

/** Milliseconds without a write after which a segment counts as sealed: its server has ended without a mark. */
const ABANDONED_AFTER = 3_600_000;

interface CompactionOptions {
  /** The records as the lease holder sees them: its commits are fenced. */
  readonly records: RecordStore;
  readonly blobs: BlobStore;
  /** Moves a body to another segment. Returns false where its object has another body by now. */
  readonly move: (blob: BlobId, owner: BlobOwner) => Promise<boolean>;
  /** The share of a segment that may be garbage, from 0 to 1. */
  readonly maxGarbage: number;
  /** Bodies that could not be moved; rounds of one server share it. */
  readonly unmovable: Set<BlobId>;
  /** Called with the bytes that were moved. */
  readonly paced?: (bytes: number) => Promise<void> | void;
  readonly log: Logger;
  readonly now: number;
  /** Milliseconds by which the clocks of servers and of the file system may differ. */
  readonly skew?: number;
  readonly signal?: AbortSignal;
  readonly random?: (size: number) => Buffer;
}

/** The result of a round. */
interface Compacted {
  /** Segments. */
  readonly removed: number;
  /** Bodies. */
  readonly moved: number;
  /** Absent where compaction waits for a copy or a snapshot. */
  readonly space?: SegmentSpace;
}

/**
 * Removes segments whose bodies are all gone, and moves the bodies of segments with too much garbage, which the next rounds then remove.
 * It can be interrupted and repeated at any point.
 */
export async function compactSegments(options: CompactionOptions): Promise<Compacted> {
  const { records, blobs, now, signal } = options;
  let [removed, moved, movedBytes] = [0, 0, 0];
  if (blobs.segments === undefined || (await isGarbageCollectionHeld(records, now))) return { removed, moved };
  const counted = await readAllGarbage(records);
  const sums = { segments: 0, bytes: 0, garbage: 0 };
  for await (const segment of blobs.segments.list()) {
    signal?.throwIfAborted();
    const estimate = counted.get(segment.segment);
    sums.segments += 1;
    sums.bytes += segment.size;
    sums.garbage += estimate?.bytes ?? 0;
    if (!isDue(options, segment, estimate)) continue;
    const { live, queued, garbage } = await countExactly(options, segment);
    if (live.length === 0 && queued === 0) {
      if (await removeSegment(options, segment.segment)) removed += 1;
    } else if (garbage > options.maxGarbage * segment.size) {
      const bodies = await moveAll(options, live);
      moved += bodies.length;
      movedBytes += bodies.reduce((sum, { blob }) => sum + (placeOf(blob)?.length ?? 0), 0);
    }
  }
  return { removed, moved, space: await writeSegmentSpace(records, sums, { removed, moved, movedBytes }) };
}

/** A commit may still be on its way to the records for a moment after its body was written. */
function isDue(
  { maxGarbage, skew = 0 }: CompactionOptions,
  { size, ageMs, sealed }: ListedSegment,
  { bytes, counted }: Garbage = { bytes: 0 },
): boolean {
  if (ageMs < (sealed ? REMOVAL_DELAY : ABANDONED_AFTER) + skew) return false;
  if (bytes > maxGarbage * size || bytes >= size) return true;
  // Bodies that no commit followed count as garbage only when they are looked for, once.
  return counted === undefined && ageMs > ORPHAN_GRACE_PERIOD;
}

interface LiveBody {
  readonly blob: BlobId;
  readonly owner: BlobOwner;
}

async function countExactly(
  { records, now, random = randomBytes }: CompactionOptions,
  { segment, size }: ListedSegment,
) {
  const { first, last } = idsIn(segment);
  const live: LiveBody[] = [];
  let used = 0;
  for await (const item of records.scan({ start: recordKeys.owner(first), end: after(recordKeys.owner(last)) })) {
    if (item.kind !== 'entry') continue;
    const blob = blobOf(item.key);
    live.push({ blob, owner: decodeRecord(item.value, `the owner of blob ${blob}`) as BlobOwner });
    used += paddedLength(placeOf(blob)?.length ?? 0);
  }
  let queued = 0;
  for await (const item of records.scan({ start: recordKeys.removal(first), end: after(recordKeys.removal(last)) })) {
    if (item.kind === 'entry') queued += paddedLength(placeOf(blobOf(item.key))?.length ?? 0);
  }
  const garbage = Math.max(0, size - used - queued);
  await commitOnce(records, { put: [putGarbage(segment, { bytes: garbage, counted: now })], freesSpace: true }, random);
  return { live, queued, garbage };
}

/** Bodies that are moved together share their flushes. */
const CONCURRENCY = 8;

/** Returns the bodies that were moved. */
async function moveAll(options: CompactionOptions, live: readonly LiveBody[]): Promise<readonly LiveBody[]> {
  const moved: LiveBody[] = [];
  for (let at = 0; at < live.length; at += CONCURRENCY) {
    options.signal?.throwIfAborted();
    const group = live.slice(at, at + CONCURRENCY);
    const results = await Promise.all(group.map((body) => moveOne(options, body)));
    moved.push(...group.filter((_, index) => results[index]));
    await options.paced?.(group.reduce((sum, { blob }) => sum + (placeOf(blob)?.length ?? 0), 0));
  }
  return moved;
}

async function moveOne({ move, unmovable, log }: CompactionOptions, { blob, owner }: LiveBody): Promise<boolean> {
  if (unmovable.has(blob)) return false;
  try {
    return await move(blob, owner);
  } catch (error) {
    // On a full disk other segments may be without bodies, and give room.
    if (error instanceof StoreUnavailable && error.reason === 'full') return false;
    if (error instanceof StoreUnavailable) throw error;
    // A body that cannot be read stays where it is until its object goes.
    unmovable.add(blob);
    const { bucket, key } = owner;
    log.warn(
      { event: 'body-not-moved', blob, bucket, key, err: error },
      `the body of ${bucket}/${key} cannot be moved`,
    );
    return false;
  }
}

/** The tombstone keeps slow writers from referring to the segment. One that was faster keeps its body, and the segment stays. */
async function removeSegment(options: CompactionOptions, segment: SegmentId): Promise<boolean> {
  const { records, blobs, now, random = randomBytes } = options;
  const tombstone = { key: recordKeys.tombstone(segment), value: encodeRecord({ given: now }) };
  await commitOnce(records, { put: [tombstone], freesSpace: true }, random);
  const { first, last } = idsIn(segment);
  for await (const item of records.scan({ start: recordKeys.owner(first), end: after(recordKeys.owner(last)) })) {
    if (item.kind === 'entry') return false;
  }
  await blobs.segments?.remove(segment);
  await commitOnce(records, { delete: [recordKeys.garbage(segment)] }, random);
  return true;
}

function blobOf(key: Key): BlobId {
  return String(decodeKey(key)[1]) as BlobId;
}
