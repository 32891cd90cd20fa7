import { setTimeout as sleep } from 'node:timers/promises';

/** Unused time is not saved up for longer than this, milliseconds: after a pause no burst comes. */
const MOST_SAVED = 1_000;

/** Waits so that no more than `bytesPerSecond` pass on average. */
export function pace(
  bytesPerSecond: number,
  {
    signal,
    clock = () => performance.now(),
  }: { readonly signal?: AbortSignal | undefined; readonly clock?: () => number } = {},
): (bytes: number) => Promise<void> {
  // When the next byte may pass.
  let due = clock();
  return async (bytes) => {
    const now = clock();
    due = Math.max(due, now - MOST_SAVED) + (bytes / bytesPerSecond) * 1_000;
    if (due > now) await sleep(due - now, undefined, { ...(signal && { signal }), ref: false });
  };
}
