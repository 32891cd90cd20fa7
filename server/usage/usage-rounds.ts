import { randomBytes } from 'node:crypto';
import { isReadOnly } from '../store/read-only.ts';
import type { RecordStore } from '../store/record-store.ts';
import { countUsage } from './count-usage.ts';
import { type CountState, readCountState, writeUsage } from './usage-record.ts';

export interface UsageRoundsOptions {
  /** Milliseconds from the end of a count to the next one at the earliest; 0: only when somebody asks. */
  readonly cycleMs: number;
  readonly recordsPerSecond: number;
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
  readonly clock?: () => number;
  readonly random?: (size: number) => Buffer;
}

/** The holder of the lease and its records, whose commits are fenced. */
export interface UsageRound {
  readonly records: RecordStore;
  readonly signal?: AbortSignal;
}

/** A count is followed by a rest of so many times what it took: over a large store it goes on for a tenth of the time, not for ever. */
const REST = 9;

/**
 * A round counts once, where a count is due, and keeps the result; it does nothing otherwise. A count that is cut off begins anew with
 * the next round.
 */
export function usageRounds(options: UsageRoundsOptions): (round: UsageRound) => Promise<void> {
  const { cycleMs, recordsPerSecond, log, clock = Date.now, random = randomBytes } = options;
  return async ({ records, signal }) => {
    const began = clock();
    const state = await readCountState(records);
    // The last result stays right while nothing changes, and another one could not be kept.
    if (!isDue(state, began, cycleMs) || (await isReadOnly(records))) return;
    const { buckets, unreadable } = await countUsage({ records, recordsPerSecond, signal });
    const ended = clock();
    await writeUsage(records, { began, ended, answers: state.asked, unreadable, buckets }, random);
    if (unreadable > 0) log.warn({ unreadable }, 'some records could not be read, and are missing in the usage');
  };
}

/** Whether to count now. */
export function isDue({ last, asked }: CountState, now: number, cycleMs: number): boolean {
  if (asked > (last?.answers ?? 0)) return true;
  if (cycleMs === 0) return false;
  if (last === undefined) return true;
  const { began, ended } = last;
  // A clock that was set back would have everybody wait until it comes there again.
  return now < began || now - ended >= Math.max(cycleMs, REST * (ended - began));
}
