import { mapLimit } from '../../platform/async/concurrency.ts';
import type { Logger } from '../../platform/output/logger.ts';
import type { KeyAdministration } from '../administration/keys.ts';
import { listCanaries } from '../encryption/key-canaries.ts';
import type { TaskReport } from '../maintenance/background-tasks.ts';
import type { Lease } from '../cluster/lease.ts';
import { repeated } from '../cluster/repeated.ts';
import { isStoreUnavailable } from '../store/store-error.ts';
import type { RecordStore } from '../store/record-store.ts';

/** Milliseconds between two rounds. */
const intervalMs = 30_000;
/** Milliseconds that a stop waits for a round. */
const gracePeriodMs = 1_000;
/** Keys that are proven at the same time. */
const concurrency = 4;

interface WatchOptions {
  readonly keys: Pick<KeyAdministration, 'endpoints' | 'answers' | 'source'>;
  readonly records: RecordStore;
  readonly lease: Pick<Lease, 'hold'>;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly tasks: Pick<TaskReport, 'run'>;
}

/**
 * Watches the key service: each server its endpoints, since another one may reach what this one does not, and the holder of the lease
 * the keys, by their canaries. Cached data keys hide an outage from clients, so that the log and the background tasks have to tell it.
 */
export function watchKeys(options: WatchOptions): { stop(): Promise<void>; now(): Promise<void> } {
  const { log } = options;
  const endpoints = endpointWatch(options);
  const rounds = repeated(
    intervalMs,
    async () => {
      await endpoints();
      if (options.lease.hold() === undefined) return;
      await options.tasks.run('key-proof', intervalMs, () => proveAll(options), isStoreUnavailable, intervalMs);
    },
    (error) => {
      if (!isStoreUnavailable(error)) log.error({ err: error, event: 'keys-not-proven' }, 'keys are not proven');
    },
  );
  return { stop: () => rounds.stop(gracePeriodMs), now: () => rounds.now() };
}

/** Logs each endpoint that begins or ends to be away, once. */
function endpointWatch({ keys, log }: Pick<WatchOptions, 'keys' | 'log'>): () => Promise<void> {
  const away = new Set<string>();
  return async () => {
    const { endpoints } = keys;
    const answers = await Promise.all(endpoints.map((endpoint) => keys.answers(endpoint)));
    for (const [at, endpoint] of endpoints.entries()) {
      if (answers[at] === true) {
        if (away.delete(endpoint)) log.info({ event: 'key-server-back', endpoint }, `key server ${endpoint} is back`);
      } else if (!away.has(endpoint)) {
        away.add(endpoint);
        const others = answers.filter((answer) => answer).length;
        const left = others === 0 ? 'none of the others answers' : `${others} of ${endpoints.length} answer`;
        log.warn({ event: 'key-server-away', endpoint }, `key server ${endpoint} does not answer; ${left}`);
      }
    }
  };
}

/** Rejects with every key that is not proven. A key that fails stops no other. */
async function proveAll({ keys, records }: Pick<WatchOptions, 'keys' | 'records'>): Promise<void> {
  const names = new Set([keys.source.defaultKey, ...(await listCanaries(records)).map(({ key }) => key)]);
  const failed: string[] = [];
  await mapLimit([...names], concurrency, async (name) => {
    try {
      await (name === keys.source.defaultKey ? keys.source.check() : keys.source.proveKey(name));
    } catch (error) {
      failed.push(error instanceof Error ? error.message : String(error));
    }
  });
  if (failed.length > 0) throw new Error(failed.toSorted().join('; '));
}
