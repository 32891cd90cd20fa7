import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs, type Backoff } from '../../platform/async/backoff.ts';
import { ResponseError } from '../../protocol/response-error.ts';

/** Codes of transient network errors of Node. */
const transientCodes = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** Reports whether a retry may succeed. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ResponseError)
    return (
      error.status === 408 ||
      error.status === 421 ||
      error.status === 425 ||
      error.status === 429 ||
      (error.status >= 500 && error.status !== 501 && error.status !== 507)
    );
  return error instanceof Error && transientCodes.has(String((error as NodeJS.ErrnoException).code));
}

export interface Retries {
  /** The maximum number of attempts. */
  readonly attempts: number;
  /** Waits for the given milliseconds; rejects when aborted. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

export const defaultRetries: Retries = {
  attempts: 6,
  wait: async (milliseconds, signal) => {
    await sleep(milliseconds, undefined, { signal });
  },
};

/** The first delay is 200 to 400 ms. The delays double up to 5 to 10 s. */
export const retryBackoff: Backoff = { firstMs: 400, maxMs: 10_000 };

/** Runs `work` until it succeeds, fails permanently, or has failed `attempts` times. `onRetry` gets each failure after which it waits. */
export async function retrying<T>(
  retries: Retries,
  signal: AbortSignal,
  work: (attempt: number) => Promise<T>,
  onRetry: (error: unknown, attempt: number) => void = () => {},
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(attempt);
    } catch (error) {
      if (attempt >= retries.attempts || signal.aborted || !isTransient(error)) throw error;
      onRetry(error, attempt);
      await retries.wait(backoffMs(attempt, retryBackoff), signal);
    }
  }
}

/** A single attempt, for requests that ask for the current state or must not be repeated. */
export const singleAttempt: Retries = { attempts: 1, wait: async () => undefined };
