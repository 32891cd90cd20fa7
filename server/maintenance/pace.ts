import { setTimeout as sleep } from 'node:timers/promises';

/** Unused time is kept for at most this many milliseconds, so that no burst follows a pause. */
const MAX_SAVED = 1_000;

export interface PaceOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds. */
  readonly clock?: () => number;
  readonly wait?: (ms: number) => Promise<unknown>;
}

/** Returns a function that waits, so that on average at most `bytesPerSecond` pass. */
export function pace(bytesPerSecond: number, options: PaceOptions = {}): (bytes: number) => Promise<void> {
  const { signal, clock = () => performance.now() } = options;
  const wait = options.wait ?? ((ms: number) => sleep(ms, undefined, { ...(signal && { signal }), ref: false }));
  // The time at which the next byte may pass.
  let due = clock();
  return async (bytes) => {
    const now = clock();
    due = Math.max(due, now - MAX_SAVED) + (bytes / bytesPerSecond) * 1_000;
    if (due > now) await wait(due - now);
  };
}
