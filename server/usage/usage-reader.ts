import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RecordStore } from '../store/record-store.ts';
import { askForCount, readCountState, readUsage } from './usage-record.ts';
import type { Usage } from './usage.ts';

/** How much is stored, for those who show it. */
export interface UsageReader {
  /** Of the last count that was finished; undefined before the first. */
  last(): Promise<Usage | undefined>;
  /** Has the server that does the background work count now; resolves when it has. Rejects with `CountTooSlow`. */
  countNow(signal?: AbortSignal): Promise<Usage>;
}

/** The count goes on: its result can be read later. */
export class CountTooSlow extends Error {
  override readonly name = 'CountTooSlow';
}

/** Milliseconds between looks whether the count has ended: at first, and at most. */
const [firstLook, longestLook] = [100, 2_000];
/** Milliseconds. Whoever asked has most likely gone by then. */
const PATIENCE = 3_600_000;

export function createUsageReader(
  records: RecordStore,
  { clock = Date.now, random = randomBytes }: { clock?: () => number; random?: (size: number) => Buffer } = {},
): UsageReader {
  return {
    last: () => readUsage(records),
    async countNow(signal) {
      const asked = await askForCount(records, random);
      const until = clock() + PATIENCE;
      for (let wait = firstLook; clock() < until; wait = Math.min(longestLook, wait * 2)) {
        const { last } = await readCountState(records);
        const usage = last !== undefined && last.answers >= asked ? await readUsage(records) : undefined;
        if (usage !== undefined) return usage;
        await sleep(wait, undefined, { ...(signal && { signal }) });
      }
      throw new CountTooSlow('The count has not ended within an hour; it goes on, and its result can be read later.');
    },
  };
}
