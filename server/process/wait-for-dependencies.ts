import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../platform/output/logger.ts';
import {
  isOtherStore,
  writeOtherStore,
  type Missing,
  type MissingService,
  type WaitsFor,
} from '../../protocol/waits-for.ts';
import { OtherStoreError } from '../store/other-store.ts';
import { isStoreUnavailable } from '../store/store-error.ts';
import { KeyServiceError } from '../../platform/key-service/exchange.ts';

/** Milliseconds between attempts. The first ones follow soon, since programs often start together. */
const delaysMs = [250, 500, 1_000, 2_000, 5_000] as const;
const maxDelayMs = 10_000;

export interface WaitOptions {
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Gets each failed attempt. */
  readonly onWaiting?: (waiting: Waiting) => void;
}

export interface Waiting {
  readonly waitsFor: WaitsFor;
  /** The text for the operator. */
  readonly reason: string;
}

/** The state before the first attempt. */
export const starting: Waiting = { waitsFor: 'start', reason: 'the server is starting' };

/**
 * Repeats the attempt until the stores and the key service are available. An operator may cure their failures while this server waits. Any
 * other failure rejects (a wrong key, a newer format, records and bodies of two deployments), and so does the end of the signal.
 */
export async function waitForDependencies<T>(attempt: () => Promise<T>, options: WaitOptions): Promise<T> {
  for (let failed = 0; ; failed++) {
    options.signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      const waitsFor = missingDependency(error);
      if (waitsFor === undefined || !(error instanceof Error)) throw error;
      const delay = delaysMs[failed] ?? maxDelayMs;
      const what = isOtherStore(waitsFor) ? 'store of its deployment' : components[waitsFor];
      options.onWaiting?.({ waitsFor, reason: `it waits for the ${what}: ${error.message}` });
      options.log.warn(
        { waitsFor, retryInMs: delay },
        `waiting for the ${what}: ${error.message}; S3 answers 503 until then`,
      );
      await sleep(delay, undefined, { signal: options.signal });
    }
  }
}

/** The component that the operator has to check. */
const components: Readonly<Record<MissingService, string>> = {
  database: 'stores',
  records: 'stores',
  bodies: 'stores',
  'key-service': 'key service',
  'default-key': 'key service',
};

function missingDependency(error: unknown): Missing | undefined {
  if (error instanceof KeyServiceError) return error.code === 'key-not-found' ? 'default-key' : 'key-service';
  if (error instanceof OtherStoreError) return writeOtherStore(error);
  if (!isStoreUnavailable(error)) return undefined;
  return error.store === 'blobs' ? 'bodies' : 'database';
}
