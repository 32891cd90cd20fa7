import { setTimeout as sleep } from 'node:timers/promises';
import { S3ResponseError } from './s3-response-error.ts';

/** Codes of node's network errors that pass by themselves. */
const passing = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** Whether the same request may succeed a moment later. */
export function isPassing(error: unknown): boolean {
  if (error instanceof S3ResponseError)
    return (
      error.status === 408 ||
      error.status === 429 ||
      (error.status >= 500 && error.status !== 501 && error.status !== 507)
    );
  return error instanceof Error && passing.has(String((error as NodeJS.ErrnoException).code));
}

export interface Retries {
  /** How often a request is sent at most. */
  readonly attempts: number;
  /** Waits the given milliseconds; rejects when aborted. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

export const patient: Retries = {
  attempts: 6,
  wait: async (milliseconds, signal) => {
    await sleep(milliseconds, undefined, { signal });
  },
};

/** 200 ms, doubled each time up to 5 s, and up to as much again by chance, so that many clients do not come back at once. */
export function delayBefore(attempt: number, random: () => number = Math.random): number {
  return Math.min(200 * 2 ** (attempt - 1), 5_000) * (1 + random());
}

/** Runs `work` until it succeeds, fails for good, or has failed `attempts` times. */
export async function retrying<T>(
  retries: Retries,
  signal: AbortSignal,
  work: (attempt: number) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(attempt);
    } catch (error) {
      if (attempt >= retries.attempts || signal.aborted || !isPassing(error)) throw error;
      await retries.wait(delayBefore(attempt), signal);
    }
  }
}

/** For questions whose answer is how the server is now. */
export const once: Retries = { attempts: 1, wait: async () => undefined };
