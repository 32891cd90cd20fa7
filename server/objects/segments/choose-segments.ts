import type { ListedSegment, SegmentId } from '../../store/blob-store.ts';
import { REMOVAL_DELAY } from '../garbage-collection/garbage-collection.ts';
import { type Garbage, keptUnknown } from '../garbage-collection/segment-garbage.ts';

/** Milliseconds without a write after which a segment counts as sealed: its server has ended without a mark. */
const ABANDONED_AFTER = 3_600_000;
/** The least count of small segments that are joined. With fewer, the same bodies would move again and again. */
const JOINED = 8;

interface Rules {
  /** The share of a segment that may be garbage, from 0 to 1. */
  readonly maxGarbage: number;
  /** Milliseconds by which the clocks of servers and of the file system may differ. */
  readonly skew?: number | undefined;
  readonly now: number;
}

interface ChosenSegment {
  readonly segment: ListedSegment;
  /** True where its bodies move although it has little garbage. */
  readonly joined: boolean;
}

/**
 * Returns the segments that compaction looks at, in order: those that are likely without bodies give space at once, then those with the
 * most garbage, which give the most space for the bytes that move. Small segments, which a restart or a quiet server leaves, are joined.
 */
export function chooseSegments(
  listed: readonly ListedSegment[],
  counted: ReadonlyMap<SegmentId, Garbage>,
  rules: Rules,
): readonly ChosenSegment[] {
  const settled = listed.filter((segment) => isSettled(segment, rules));
  const countOf = ({ segment }: ListedSegment): Garbage => counted.get(segment) ?? { bytes: 0 };
  const garbageOf = (segment: ListedSegment) => countOf(segment).bytes / Math.max(segment.size, 1);
  const due = settled
    .filter((segment) => isDue(segment, countOf(segment), rules))
    .toSorted((one, other) => garbageOf(other) - garbageOf(one));
  // A segment with bytes that must stay gives no space when its bodies move.
  const small = settled.filter(
    (segment) => segment.small && !due.includes(segment) && keptUnknown(countOf(segment), rules.now) === 0,
  );
  return [
    ...due.map((segment) => ({ segment, joined: false })),
    ...(small.length < JOINED ? [] : small.map((segment) => ({ segment, joined: true }))),
  ];
}

/** A commit may still be on its way to the records for a moment after its body was written. */
function isSettled({ ageMs, sealed }: ListedSegment, { skew = 0 }: Rules): boolean {
  return ageMs >= (sealed ? REMOVAL_DELAY : ABANDONED_AFTER) + skew;
}

function isDue({ size }: ListedSegment, garbage: Garbage, { maxGarbage, now }: Rules): boolean {
  // Bodies that failed, or that no commit followed, count as garbage only when they are looked for, once.
  if (garbage.counted === undefined) return true;
  const bytes = garbage.bytes - keptUnknown(garbage, now);
  return bytes > maxGarbage * size || bytes >= size;
}
