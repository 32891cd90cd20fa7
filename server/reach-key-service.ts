import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../platform/logger.ts';
import { KeySourceError } from './encryption/key-source.ts';
import type { Services } from './services.ts';

/** Milliseconds between attempts: soon at first, since both programs often start together. */
const delays = [250, 500, 1_000, 2_000, 5_000] as const;
const longest = 10_000;

export interface ReachOptions {
  readonly keyServiceConfigured: boolean;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Told the reason of every failed attempt. */
  readonly onWaiting: (reason: string) => void;
}

/**
 * Resolves when the key service answers, its default key works, and the sealed records are open. Whatever the key service's
 * failure is, a person may cure it there while this server waits; anything else (a wrong key, a newer format) rejects.
 */
export async function reachKeyService(
  services: Pick<Services, 'keys' | 'sealed'>,
  options: ReachOptions,
): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      if (options.keyServiceConfigured) await services.keys.check();
      await services.sealed.start();
      return;
    } catch (error) {
      if (!(error instanceof KeySourceError)) throw error;
      const delay = delays[attempt] ?? longest;
      options.onWaiting(error.message);
      options.log.warn(
        { code: error.code, retryInMs: delay },
        `waiting for the key service: ${error.message}; S3 answers 503 until then`,
      );
      await sleep(delay, undefined, { signal: options.signal });
    }
  }
}
