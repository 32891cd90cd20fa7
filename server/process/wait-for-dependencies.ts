import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../platform/logger.ts';
import type { Missing, WaitsFor } from '../../protocol/waits-for.ts';
import { KeySourceError } from '../encryption/key-source.ts';
import { BlobsUnavailable } from '../store/blob-store.ts';
import { StoreUnavailable } from '../store/record-store.ts';

/** Milliseconds between attempts: soon at first, since programs often start together. */
const delays = [250, 500, 1_000, 2_000, 5_000] as const;
const longest = 10_000;

export interface ReachOptions {
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Told of every failed attempt. */
  readonly onWaiting?: (waiting: Waiting) => void;
}

export interface Waiting {
  readonly waitsFor: WaitsFor;
  /** For those who run the server. */
  readonly reason: string;
}

/** Before anything was tried. */
export const starting: Waiting = { waitsFor: 'start', reason: 'the server is starting' };

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
      const waitsFor = whatIsMissing(error);
      if (waitsFor === undefined || !(error instanceof Error)) throw error;
      const delay = delays[failed] ?? longest;
      const what = places[waitsFor];
      options.onWaiting?.({ waitsFor, reason: `it waits for the ${what}: ${error.message}` });
      options.log.warn(
        { waitsFor, retryInMs: delay },
        `waiting for the ${what}: ${error.message}; S3 answers 503 until then`,
      );
      await sleep(delay, undefined, { signal: options.signal });
    }
  }
}

/** Where a person looks. */
const places: Readonly<Record<Missing, string>> = {
  database: 'stores',
  bodies: 'stores',
  'key-service': 'key service',
  'default-key': 'key service',
};

function whatIsMissing(error: unknown): Missing | undefined {
  if (error instanceof KeySourceError) return error.code === 'key-not-found' ? 'default-key' : 'key-service';
  if (error instanceof BlobsUnavailable) return 'bodies';
  return error instanceof StoreUnavailable ? 'database' : undefined;
}
