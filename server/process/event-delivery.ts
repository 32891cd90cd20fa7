import type { Logger } from '../../platform/logger.ts';
import type { NotifySettings } from '../../platform/settings/notify-settings.ts';
import { deliverEvents } from '../notifications/deliver-events.ts';
import type { EventSource } from '../notifications/event-message.ts';
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

/** Delivers the queued events of buckets while this server holds the lease, until it is stopped. */
export function runEventDelivery(
  { stores, digests }: Pick<Services, 'stores' | 'digests'>,
  lease: Pick<Lease, 'hold'>,
  log: Logger,
  options: { readonly settings: NotifySettings; readonly source: () => EventSource },
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const round = async () => {
    const hold = lease.hold();
    if (hold === undefined || stopping.signal.aborted) return;
    await deliverEvents({
      ...options,
      digests,
      records: fencedRecords(stores.records, hold),
      signal: AbortSignal.any([hold.signal, stopping.signal]),
      isOver: (error) => isStoreError(error, 'lease-lost'),
      log,
      ...(stores.shared && { idleMs: sharedIdleMs }),
    });
  };
  const rounds = repeated(lookMs, round, (error) => {
    if (!stopping.signal.aborted) log.error({ err: error }, 'events of buckets could not be delivered');
  });
  return {
    async stop() {
      stopping.abort();
      await rounds.stop(gracePeriodMs);
    },
  };
}
