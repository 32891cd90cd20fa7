import { setTimeout as sleep } from 'node:timers/promises';

/** The delay before the first retry, doubled before each further one up to a limit. */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
  /**
   * The random share of each delay, from 0 to 1, so that many clients of a service that comes back do not all come at once. 0.5 by
   * default: a delay is at least half as long as it could be.
   */
  readonly jitter?: number;
}

/**
 * Milliseconds to wait after this many failures in a row, counted from 1.
 *
 * @example
 *     await pause(backoffMs(1, { firstMs: 1, maxMs: 2 }), new AbortController().signal); // undefined
 */
export function backoffMs(
  failures: number,
  { firstMs, maxMs, jitter = 0.5 }: Backoff,
  random: () => number = Math.random,
): number {
  if (failures === 0) return 0;
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return jitter === 0 ? full : full * (1 - jitter + jitter * random());
}

/** Waits this many milliseconds, or until the signal aborts it. It never rejects. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

interface RetryOptions {
  /** Milliseconds after the first attempt within which another may begin. 0 makes one attempt. */
  readonly forMs: number;
  readonly isTransient: (error: unknown) => boolean;
  /** Milliseconds that a failure asks to wait for, if it does. An attempt is never made earlier. */
  readonly waitOf?: (error: unknown) => number | undefined;
  /** Aborts the waiting: `retry` then rejects with the last failure. */
  readonly signal?: AbortSignal;
  readonly now?: () => number;
  readonly random?: () => number;
}

/** The delays of `retry`. */
export const retryBackoff: Backoff = { firstMs: 50, maxMs: 1_000 };

/**
 * Makes attempts until one succeeds, one fails with an error that is not transient, or the time is over. Then it rejects with the last
 * failure. The delays between attempts grow from 50 ms to 1 s. `attempt` gets the number of the attempt, from 0.
 *
 * @example
 * const answer = await retry(() => call(request), { forMs: 5_000, isTransient: isNoAnswer });
 */
export async function retry<T>(attempt: (number: number) => Promise<T>, options: RetryOptions): Promise<T> {
  const { forMs, isTransient, waitOf, signal, now = performance.now.bind(performance), random } = options;
  const began = now();
  for (let number = 0; ; number++) {
    try {
      return await attempt(number);
    } catch (error) {
      const delay = Math.max(waitOf?.(error) ?? 0, backoffMs(number + 1, retryBackoff, random));
      if (!isTransient(error) || now() - began + delay > forMs) throw error;
      if (!(await waited(delay, signal))) throw error;
    }
  }
}

async function waited(delayMs: number, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    await sleep(delayMs, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}
