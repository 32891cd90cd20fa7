import type { Logger } from '../../platform/output/logger.ts';
import type { NotifySettings } from '../../platform/settings/notify-settings.ts';
import { deliverEvents } from '../notifications/deliver-events.ts';
import type { EventSource } from '../notifications/event-message.ts';
import type { Pace } from '../maintenance/pace.ts';
import { fencedRecords, type Lease } from '../cluster/lease.ts';
import { repeated } from '../cluster/repeated.ts';
import type { ProcessorShare } from '../outbox/processor-share.ts';
import { deliverReplication } from '../replication/deliver-replication.ts';
import { RemoteTargets } from '../replication/remote-targets.ts';
import { readUnpromoted, unpromotedState } from '../store/promotion.ts';
import type { RecordStore } from '../store/record-store.ts';
import { isStoreError } from '../store/store-error.ts';
import type { Services } from './services.ts';

/** Milliseconds between two looks at the lease. */
const lookMs = 500;
/** Milliseconds between two looks whether the store was promoted, or found to be of another moment. */
const watchMs = 1_000;
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
  readonly held: string | undefined;
  readonly idleMs?: number;
}

interface DeliveryOptions extends Pick<Services, 'stores'> {
  readonly lease: Pick<Lease, 'hold'>;
  readonly log: Logger;
  /** The message of the log for a round that failed. */
  readonly failure: string;
}

/** Returns why nothing may be delivered; undefined for a store that goes on for its deployment. */
async function readHeld(records: Pick<RecordStore, 'get'>): Promise<string | undefined> {
  const unpromoted = await readUnpromoted(records);
  return unpromoted && unpromotedState(unpromoted);
}

function runDelivery(
  deliver: (round: DeliveryRound) => Promise<void>,
  { stores, lease, log, failure }: DeliveryOptions,
): Running {
  const stopping = new AbortController();
  const round = async () => {
    const hold = lease.hold();
    if (hold === undefined || stopping.signal.aborted) return;
    const held = await readHeld(stores.records);
    const changed = new AbortController();
    const watch = repeated(
      watchMs,
      async () => {
        if ((await readHeld(stores.records)) !== held) changed.abort();
      },
      // The delivery meets and logs the failure of the store.
      () => undefined,
    );
    try {
      await deliver({
        records: fencedRecords(stores.records, hold),
        signal: AbortSignal.any([hold.signal, stopping.signal, changed.signal]),
        isOver: (error) => isStoreError(error, 'lease-lost'),
        log,
        held,
        ...(stores.shared && { idleMs: sharedIdleMs }),
      });
    } finally {
      await watch.stop();
    }
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
