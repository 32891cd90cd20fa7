import { setTimeout as sleep } from 'node:timers/promises';

/** Unused time is not saved up for longer than this, milliseconds: after a pause no burst comes. */
const MOST_SAVED = 1_000;

export interface PaceOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds. */
  readonly clock?: () => number;
  readonly wait?: (ms: number) => Promise<unknown>;
}

/** Waits so that no more than `bytesPerSecond` pass on average. */
export function pace(bytesPerSecond: number, options: PaceOptions = {}): (bytes: number) => Promise<void> {
  const { signal, clock = () => performance.now() } = options;
  const wait = options.wait ?? ((ms: number) => sleep(ms, undefined, { ...(signal && { signal }), ref: false }));
  // When the next byte may pass.
  let due = clock();
  return async (bytes) => {
    const now = clock();
    due = Math.max(due, now - MOST_SAVED) + (bytes / bytesPerSecond) * 1_000;
    if (due > now) await wait(due - now);
  };
}
