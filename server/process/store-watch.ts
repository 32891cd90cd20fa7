import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../platform/output/logger.ts';
import { timeoutText } from '../../platform/text/message-text.ts';
import { isStoreError } from '../store/store-error.ts';
import type { Waiting } from './wait-for-dependencies.ts';

/** Milliseconds between two checks, and after which a check without a result has failed: a file server that is away lets calls wait. */
const intervalMs = 2_000;
const limitMs = 10_000;
/** Milliseconds that a stop waits for a check. */
const gracePeriodMs = 1_000;

interface StoreWatchOptions {
  /** Each rejects while a write to this store would fail. */
  readonly checks: Readonly<Record<'records' | 'bodies', () => Promise<void>>>;
  readonly log: Pick<Logger, 'info' | 'error'>;
  /** Gets each new fault, and undefined when it is over. */
  readonly onChange: (fault: Waiting | undefined) => void;
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/**
 * Checks the stores in the background, so that readiness knows that a write would fail before a client finds out. A full disk is
 * no fault: the server still reads and deletes, and another server of the same folder has no more room.
 */
export function watchStores({ checks, log, onChange, pause = abortablePause }: StoreWatchOptions): {
  stop(): Promise<void>;
} {
  const stopping = new AbortController();
  const running = new Map<string, Promise<Waiting | undefined>>();
  let current: Waiting | undefined;

  const look = async (store: 'records' | 'bodies'): Promise<Waiting | undefined> => {
    // A check that waits for its file server is not started a second time.
    const check = running.get(store) ?? faultOf(store, checks[store]).finally(() => running.delete(store));
    running.set(store, check);
    const ended = new AbortController();
    const reason = `the store of the ${store} does not answer within ${timeoutText(limitMs)}`;
    const late = pause(limitMs, AbortSignal.any([ended.signal, stopping.signal])).then(() => ({
      waitsFor: store,
      reason,
    }));
    try {
      return await Promise.race([check, late]);
    } finally {
      ended.abort();
    }
  };
  const report = (fault: Waiting | undefined): void => {
    if (fault?.waitsFor === current?.waitsFor && fault?.reason === current?.reason) return;
    current = fault;
    if (fault === undefined) log.info({ event: 'stores-back' }, 'the stores can be written again');
    else log.error({ event: 'stores-away', waitsFor: fault.waitsFor }, `not ready: ${fault.reason}`);
    onChange(fault);
  };
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      const [records, bodies] = await Promise.all([look('records'), look('bodies')]);
      if (!stopping.signal.aborted) report(records ?? bodies);
      await pause(intervalMs, stopping.signal);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await Promise.race([watching, sleep(gracePeriodMs, undefined, { ref: false })]);
    },
  };
}

async function faultOf(store: 'records' | 'bodies', check: () => Promise<void>): Promise<Waiting | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    if (isStoreError(error, 'full')) return undefined;
    return { waitsFor: store, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Resolves early when the signal aborts. */
async function abortablePause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
