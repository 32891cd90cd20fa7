import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../platform/logger.ts';
import { KeySourceError } from './encryption/key-source.ts';
import { StoreUnavailable } from './store/record-store.ts';

/** Milliseconds between attempts: soon at first, since programs often start together. */
const delays = [250, 500, 1_000, 2_000, 5_000] as const;
const longest = 10_000;

export interface ReachOptions {
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Told the reason of every failed attempt. */
  readonly onWaiting?: (reason: string) => void;
}

/**
 * Attempts until the stores and the key service are there. Whatever their failure is, a person may cure it there while this server
 * waits; anything else (a wrong key, a newer format, stores of two deployments) rejects, as does the end of the signal.
 */
export async function reach<T>(attempt: () => Promise<T>, options: ReachOptions): Promise<T> {
  for (let failed = 0; ; failed++) {
    options.signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      const what = whatIsMissing(error);
      if (what === undefined || !(error instanceof Error)) throw error;
      const delay = delays[failed] ?? longest;
      options.onWaiting?.(`it waits for the ${what}: ${error.message}`);
      options.log.warn({ retryInMs: delay }, `waiting for the ${what}: ${error.message}; S3 answers 503 until then`);
      await sleep(delay, undefined, { signal: options.signal });
    }
  }
}

function whatIsMissing(error: unknown): string | undefined {
  if (error instanceof KeySourceError) return 'key service';
  return error instanceof StoreUnavailable ? 'stores' : undefined;
}
