import type { Logger } from '../../platform/logger.ts';
import { deliverReplication } from '../replication/deliver-replication.ts';
import { RemoteTargets } from '../replication/remote-targets.ts';
import { fencedRecords, type Lease } from '../replicas/lease.ts';
import { isStoreError } from '../store/store-error.ts';
import { repeated } from '../replicas/repeated.ts';
import type { Services } from './services.ts';

/** Milliseconds between two looks at the lease. */
const lookMs = 500;
/** Milliseconds that a stop waits for requests to targets. What they deliver meanwhile is delivered again. */
const gracePeriodMs = 1_000;
/** Milliseconds between two looks at an empty queue: each is a query of a shared database. */
const sharedIdleMs = 500;

/** Replicates buckets to their remote targets while this server holds the lease, until it is stopped. */
export function runReplication(
  { stores, sealed, objects }: Pick<Services, 'stores' | 'sealed' | 'objects'>,
  lease: Pick<Lease, 'hold'>,
  log: Logger,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const targets = new RemoteTargets(sealed);
  const round = async () => {
    const hold = lease.hold();
    if (hold === undefined || stopping.signal.aborted) return;
    await deliverReplication({
      targets,
      objects,
      records: fencedRecords(stores.records, hold),
      signal: AbortSignal.any([hold.signal, stopping.signal]),
      isOver: (error) => isStoreError(error, 'lease-lost'),
      log,
      ...(stores.shared && { idleMs: sharedIdleMs }),
    });
  };
  const rounds = repeated(lookMs, round, (error) => {
    if (!stopping.signal.aborted) log.error({ err: error }, 'buckets could not be replicated');
  });
  return {
    async stop() {
      stopping.abort();
      await rounds.stop(gracePeriodMs);
    },
  };
}
