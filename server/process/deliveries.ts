import type { Logger } from '../../platform/logger.ts';
import type { NotifySettings } from '../../platform/settings/notify-settings.ts';
import { deliverEvents } from '../notifications/deliver-events.ts';
import type { EventSource } from '../notifications/event-message.ts';
import type { Pace } from '../maintenance/pace.ts';
import { fencedRecords, type Lease } from '../replicas/lease.ts';
import { repeated } from '../replicas/repeated.ts';
import type { ProcessorShare } from '../outbox/processor-share.ts';
import { deliverReplication } from '../replication/deliver-replication.ts';
import { RemoteTargets } from '../replication/remote-targets.ts';
import { readUnpromoted } from '../store/promotion.ts';
import { isStoreError } from '../store/store-error.ts';
import type { Services } from './services.ts';

/** Milliseconds between two looks at the lease. */
const lookMs = 500;
/** Milliseconds that a stop waits for requests to targets. What they deliver meanwhile is delivered again. */
const gracePeriodMs = 1_000;
/** Milliseconds between two looks at an empty queue: each is a query of a shared database. */
const sharedIdleMs = 500;

interface Running {
  stop(): Promise<void>;
}

/** Delivers the queued events of buckets while this server holds the lease, until it is stopped. */
export function runEventDelivery(
  { stores, digests }: Pick<Services, 'stores' | 'digests'>,
  lease: Pick<Lease, 'hold'>,
  log: Logger,
  options: { readonly settings: NotifySettings; readonly source: () => EventSource; readonly share: ProcessorShare },
): Running {
  const deliver = (round: DeliveryRound) => deliverEvents({ ...options, ...round, digests });
  return runDelivery(deliver, { stores, lease, log, failure: 'events of buckets could not be delivered' });
}

/** Replicates buckets to their remote targets while this server holds the lease, until it is stopped. `reads` limits what a resync reads. */
export function runReplication(
  { stores, sealed, objects }: Pick<Services, 'stores' | 'sealed' | 'objects'>,
  lease: Pick<Lease, 'hold'>,
  log: Logger,
  { reads, share }: { readonly reads: Pace; readonly share: ProcessorShare },
): Running {
  const targets = new RemoteTargets(sealed);
  const deliver = (round: DeliveryRound) => deliverReplication({ ...round, targets, objects, reads, share });
  return runDelivery(deliver, { stores, lease, log, failure: 'buckets could not be replicated' });
}

interface DeliveryRound {
  readonly records: ReturnType<typeof fencedRecords>;
  readonly signal: AbortSignal;
  readonly isOver: (error: unknown) => boolean;
  readonly log: Logger;
  readonly idleMs?: number;
}

interface DeliveryOptions extends Pick<Services, 'stores'> {
  readonly lease: Pick<Lease, 'hold'>;
  readonly log: Logger;
  /** The message of the log for a round that failed. */
  readonly failure: string;
}

function runDelivery(
  deliver: (round: DeliveryRound) => Promise<void>,
  { stores, lease, log, failure }: DeliveryOptions,
): Running {
  const stopping = new AbortController();
  const round = async () => {
    const hold = lease.hold();
    if (hold === undefined || stopping.signal.aborted || (await readUnpromoted(stores.records)) !== undefined) return;
    await deliver({
      records: fencedRecords(stores.records, hold),
      signal: AbortSignal.any([hold.signal, stopping.signal]),
      isOver: (error) => isStoreError(error, 'lease-lost'),
      log,
      ...(stores.shared && { idleMs: sharedIdleMs }),
    });
  };
  const rounds = repeated(lookMs, round, (error) => {
    if (!stopping.signal.aborted) log.error({ err: error }, failure);
  });
  return {
    async stop() {
      stopping.abort();
      await rounds.stop(gracePeriodMs);
    },
  };
}
