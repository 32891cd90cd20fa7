import { setTimeout as sleep } from 'node:timers/promises';

/** Unused time is kept for at most this many milliseconds, so that no burst follows a pause. */
const MAX_SAVED = 1_000;

interface PaceOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds. */
  readonly clock?: () => number;
  readonly wait?: (ms: number, signal?: AbortSignal) => Promise<unknown>;
}

/** Waits until this many bytes or records may pass. Rejects with the reason of the signal, if it is aborted meanwhile. */
export type Pace = (count: number, signal?: AbortSignal) => Promise<void>;

export const unlimited: Pace = () => Promise.resolve();

/**
 * Returns a function that waits, so that on average at most `perSecond` pass. Tasks that call the same function share the rate: each waits
 * until what the others asked for before has passed.
 */
export function pace(perSecond: number, options: PaceOptions = {}): Pace {
  const { clock = () => performance.now() } = options;
  const wait =
    options.wait ??
    ((ms: number, signal: AbortSignal | undefined) => sleep(ms, undefined, { ...(signal && { signal }), ref: false }));
  // The time at which the next one may pass.
  let due = clock();
  return async (count, signal = options.signal) => {
    const now = clock();
    due = Math.max(due, now - MAX_SAVED) + (count / perSecond) * 1_000;
    if (due > now) await wait(due - now, signal);
  };
}
