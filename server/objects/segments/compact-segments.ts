import { randomBytes } from 'node:crypto';
import type { Logger } from '../../../platform/output/logger.ts';
import { commitOnce } from '../../store/commits.ts';
import type { BlobId, BlobStore, ListedSegment, SegmentId } from '../../store/blob-store.ts';
import { after, decodeKey } from '../../store/keys.ts';
import { idsIn, paddedLength, placeOf } from '../../store/packed-id.ts';
import { type Key, type RecordStore } from '../../store/record-store.ts';
import { isGarbageCollectionHeld } from '../garbage-collection/garbage-collection.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { isStoreError, isStoreUnavailable } from '../../store/store-error.ts';
import { chooseSegments } from './choose-segments.ts';
import type { BlobOwner } from '../contract/objects.ts';
import { decodeRecord, encodeRecord, recordKeys } from '../records/record-format.ts';
import {
  type Garbage,
  keptUnknown,
  putGarbage,
  readAllGarbage,
  readGarbage,
} from '../garbage-collection/segment-garbage.ts';
import { type SegmentSpace, writeSegmentSpace } from './segment-space.ts';

/** A round moves at most this many bytes. The next round begins with the segments that lost all their bodies meanwhile. */
const MAX_MOVED = 2 * 1024 ** 3;

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
  /** False where no body moves, and only segments without bodies are removed. True by default. */
  readonly moves?: boolean;
  /** Called with the bytes that were moved. Rejects with the reason of the signal. */
  readonly paced?: (bytes: number, signal?: AbortSignal) => Promise<void> | void;
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
  const { records, blobs, now, maxGarbage, moves = true, skew, signal } = options;
  if (blobs.segments === undefined || (await isGarbageCollectionHeld(records, now))) return { removed: 0, moved: 0 };
  const gone = new Set<SegmentId>();
  let [moved, movedBytes] = [0, 0];
  const counted = await readAllGarbage(records);
  const listed = await Array.fromAsync(blobs.segments.list());
  await forgetGarbage(options, counted, listed);
  /** Adds work to the figures, without the segments that are gone. */
  const report = (work: Pick<SegmentSpace, 'removed' | 'moved' | 'movedBytes'>): Promise<SegmentSpace> => {
    const left = listed.filter(({ segment }) => !gone.has(segment));
    const sums = {
      segments: left.length,
      bytes: left.reduce((sum, { size }) => sum + size, 0),
      garbage: left.reduce((sum, { segment }) => sum + (counted.get(segment)?.bytes ?? 0), 0),
    };
    return writeSegmentSpace(records, sums, work);
  };
  for (const { segment, joined } of chooseSegments(listed, counted, { maxGarbage, skew, now })) {
    signal?.throwIfAborted();
    const found = await countExactly(options, segment);
    if (found === undefined) continue;
    const { live, queued, garbage, kept } = found;
    if (live.length === 0 && queued === 0) {
      if (kept > 0) continue;
      if (await removeSegment(options, segment.segment)) gone.add(segment.segment);
    } else if (moves && (joined || garbage - kept > maxGarbage * segment.size) && movedBytes < MAX_MOVED) {
      const bodies = await moveAll(options, live);
      const bytes = bodies.reduce((sum, { blob }) => sum + (placeOf(blob)?.length ?? 0), 0);
      moved += bodies.length;
      movedBytes += bytes;
      // A round may take a minute, in which these bodies have two places.
      if (bodies.length > 0) await report({ removed: 0, moved: bodies.length, movedBytes: bytes });
    }
  }
  const removed = gone.size;
  return { removed, moved, space: await report({ removed, moved: 0, movedBytes: 0 }) };
}

/** Removes the counts of segments that are not files: a copy of a store has their bodies as files of their own. `counted` is read first. */
async function forgetGarbage(
  { records, random = randomBytes }: CompactionOptions,
  counted: ReadonlyMap<SegmentId, Garbage>,
  listed: readonly ListedSegment[],
): Promise<void> {
  const files = new Set(listed.map(({ segment }) => segment));
  const keys = [...counted.keys()]
    .filter((segment) => !files.has(segment))
    .map((segment) => recordKeys.garbage(segment));
  for (let at = 0; at < keys.length; at += COMMIT_SIZE) {
    await commitOnce(records, { delete: keys.slice(at, at + COMMIT_SIZE) }, random);
  }
}

interface LiveBody {
  readonly blob: BlobId;
  readonly owner: BlobOwner;
}

interface SegmentCount {
  readonly live: readonly LiveBody[];
  readonly queued: number;
  readonly garbage: number;
  readonly kept: number;
}

/**
 * Counts the garbage of a segment by the owner records of its bodies, and keeps the count. `kept` are the bytes that these records have not
 * known for long enough. Returns undefined where a removal was counted meanwhile.
 */
async function countExactly(
  { records, now, random = randomBytes }: CompactionOptions,
  { segment, size, failed }: ListedSegment,
): Promise<SegmentCount | undefined> {
  const { garbage: before, expect } = await readGarbage(records, segment);
  // A body that is deleted between the two scans is in neither, and would count now and again when its removal is due.
  const waiting = await queuedBodies(records, segment);
  const live: LiveBody[] = [];
  let used = 0;
  for await (const item of records.scan(ownersIn(segment))) {
    if (item.kind !== 'entry') continue;
    const blob = blobOf(item.key);
    live.push({ blob, owner: decodeRecord(item.value, `the owner of blob ${blob}`) as BlobOwner });
    used += paddedBytes(blob);
  }
  const owned = new Set(live.map(({ blob }) => blob));
  for (const blob of await queuedBodies(records, segment)) if (!owned.has(blob)) waiting.add(blob);
  const queued = [...waiting].reduce((sum, blob) => sum + paddedBytes(blob), 0);
  const garbage = Math.max(0, size - used - queued);
  const after = { bytes: garbage, counted: now, ...unknownOf(before, { garbage, failed, now }) };
  if (before.counted === undefined || before.bytes !== garbage || before.unknown?.bytes !== after.unknown?.bytes) {
    const put = [putGarbage(segment, after)];
    const { kind } = await commitOnce(records, { expect: [expect], put, freesSpace: true }, random);
    if (kind !== 'committed') return undefined;
  }
  return { live, queued, garbage, kept: keptUnknown(after, now) };
}

/** Returns those bytes of an exact count that neither a removal nor an upload that broke off explains. */
function unknownOf(
  before: Garbage,
  { garbage, failed, now }: { readonly garbage: number; readonly failed: number; readonly now: number },
): Pick<Garbage, 'unknown'> {
  const explained = before.bytes - (before.unknown?.bytes ?? 0) + (before.counted === undefined ? failed : 0);
  const bytes = garbage - explained;
  return bytes <= 0 ? {} : { unknown: { bytes, since: before.unknown?.since ?? now } };
}

function ownersIn(segment: SegmentId) {
  const { first, last } = idsIn(segment);
  return { start: recordKeys.owner(first), end: after(recordKeys.owner(last)) };
}

/** Returns the bodies of a segment that wait for their removal. */
async function queuedBodies(records: RecordStore, segment: SegmentId): Promise<Set<BlobId>> {
  const { first, last } = idsIn(segment);
  const queued = new Set<BlobId>();
  for await (const item of records.scan({ start: recordKeys.removal(first), end: after(recordKeys.removal(last)) })) {
    if (item.kind === 'entry') queued.add(blobOf(item.key));
  }
  return queued;
}

function paddedBytes(blob: BlobId): number {
  return paddedLength(placeOf(blob)?.length ?? 0);
}

/** The count of records in a commit. */
const COMMIT_SIZE = 500;
/** Bodies that are moved together share their flushes. */
const CONCURRENCY = 8;

/** Returns the bodies that were moved. */
async function moveAll(options: CompactionOptions, live: readonly LiveBody[]): Promise<readonly LiveBody[]> {
  const moved: LiveBody[] = [];
  for (let at = 0; at < live.length; at += CONCURRENCY) {
    options.signal?.throwIfAborted();
    const group = live.slice(at, at + CONCURRENCY);
    const results = await Promise.allSettled(group.map((body) => moveOne(options, body)));
    // No move goes on after the round has failed.
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    moved.push(...group.filter((_, index) => (results[index] as PromiseFulfilledResult<boolean>).value));
    const bytes = group.reduce((sum, { blob }) => sum + (placeOf(blob)?.length ?? 0), 0);
    await options.paced?.(bytes, options.signal);
  }
  return moved;
}

async function moveOne({ move, unmovable, log }: CompactionOptions, { blob, owner }: LiveBody): Promise<boolean> {
  if (unmovable.has(blob)) return false;
  try {
    return await move(blob, owner);
  } catch (error) {
    // On a full disk other segments may be without bodies, and give room.
    if (isStoreError(error, 'full')) return false;
    if (isStoreUnavailable(error)) throw error;
    // The object changed too often, or the outcome is not known: the next round finds it again.
    if (error instanceof S3Error || isStoreError(error, 'outcome-unknown')) return false;
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
  for await (const item of records.scan(ownersIn(segment))) if (item.kind === 'entry') return false;
  // Its object may be gone again, and readers may still read it.
  if ((await queuedBodies(records, segment)).size > 0) return false;
  await blobs.segments?.remove(segment);
  await commitOnce(records, { delete: [recordKeys.garbage(segment)] }, random);
  return true;
}

function blobOf(key: Key): BlobId {
  return String(decodeKey(key)[1]) as BlobId;
}
