import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds before the first retry; doubled with each, up to the longest. */
const firstDelayMs = 50;
const longestDelayMs = 1000;

interface RetryOptions {
  /** Milliseconds after the first attempt within which another may begin; 0 makes one attempt. */
  readonly forMs: number;
  readonly isTransient: (error: unknown) => boolean;
  /** Aborted where no answer is wanted any more: the last failure is then the answer. */
  readonly signal?: AbortSignal;
  readonly now?: () => number;
  readonly random?: () => number;
}

/**
 * Makes attempts until one succeeds, fails for good, or the time is over; then errors with the last failure. Between attempts it
 * waits longer and longer, each time a random part less, so that many clients of a service that comes back do not all come at once.
 */
export async function retry<T>(attempt: (number: number) => Promise<T>, options: RetryOptions): Promise<T> {
  const { forMs, isTransient, signal, now = performance.now.bind(performance), random = Math.random } = options;
  const began = now();
  for (let number = 0; ; number++) {
    try {
      return await attempt(number);
    } catch (error) {
      const delay = retryDelay(number, random());
      if (!isTransient(error) || now() - began + delay > forMs) throw error;
      if (!(await waited(delay, signal))) throw error;
    }
  }
}

/** Milliseconds after the attempt of this number, counted from 0; `random` is from 0 to 1. */
export function retryDelay(number: number, random: number): number {
  const full = Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(number, 20));
  return full / 2 + (full / 2) * random;
}

async function waited(delayMs: number, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    await sleep(delayMs, undefined, signal === undefined ? {} : { signal });
    return true;
  } catch {
    return false;
  }
}
