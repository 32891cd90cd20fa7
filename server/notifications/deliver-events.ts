import type { StructuredLog } from '../../platform/output/structured-log.ts';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { pause } from '../../platform/async/backoff.ts';
import type { NotifySettings } from '../../platform/settings/notify-settings.ts';
import type { DigestKeys } from '../encryption/digest-keys.ts';
import { openDigests } from '../objects/encryption/digests.ts';
import { decodeEvent, type QueuedEvent } from '../objects/events/outbox.ts';
import { isUnreadable } from '../objects/records/damage.ts';
import { targetOfQueue } from '../objects/replication/queue-replication.ts';
import { deliverQueue, type Delivery, heldDelivery } from '../outbox/deliver-queue.ts';
import type { ProcessorShare } from '../outbox/processor-share.ts';
import { queuedTargets } from '../outbox/read-queue.ts';
import { isReadOnly } from '../store/commits.ts';
import type { RecordStore } from '../store/record-store.ts';
import { eventMessage, type EventSource, sequencerOf } from './event-message.ts';
import { nameOfTarget, openTarget } from './open-target.ts';
import { DeliveryError } from '../outbox/delivery-error.ts';
import type { NotificationTarget } from './target.ts';
import { isStoreError } from '../store/store-error.ts';

interface DeliverEventsOptions {
  readonly records: RecordStore;
  readonly digests: DigestKeys;
  readonly settings: NotifySettings;
  readonly source: () => EventSource;
  readonly signal: AbortSignal;
  readonly log: Pick<StructuredLog, 'info' | 'warn' | 'error'>;
  /** Reports whether an error ends the work: another server delivers now. */
  readonly isOver: (error: unknown) => boolean;
  readonly idleMs?: number;
  /** Why all events wait: no target is opened. Undefined for a store that goes on for its deployment. */
  readonly held?: string | undefined;
  /** Makes events wait while requests need the processors. */
  readonly share?: Pick<ProcessorShare, 'before'> | undefined;
}

/** Milliseconds after a failure of the store. */
const retryMs = 2_000;
/** Milliseconds at most between two attempts for an event that its target refuses. An administrator can ask for one earlier. */
const maxRejectedMs = 300_000;

/**
 * Delivers the queues of all targets while this server holds the lease, until the signal aborts it. The commits of `records` are fenced.
 * A queue whose target has no settings any more waits.
 */
export async function deliverEvents(options: DeliverEventsOptions): Promise<void> {
  const { records, settings, signal, log, isOver, held } = options;
  const queued = (await queuedTargets(records)).filter((queue) => targetOfQueue(queue) === undefined);
  const names = new Set([...settings.targets.map(nameOfTarget), ...queued]);
  await Promise.all(
    [...names].map(async (name) => {
      const target = settings.targets.find((known) => nameOfTarget(known) === name);
      if (target === undefined)
        log.warn({ event: 'notify-unknown', target: name }, `events wait for ${name}, which is not set up`);
      const opened = held === undefined && target !== undefined ? await openTarget(target) : undefined;
      const bounds = { events: target?.queueLimit ?? 100_000, bytes: settings.queueBytes, whenFull: settings.whenFull };
      const holding = target === undefined || held === undefined ? undefined : heldDelivery(held);
      const delivery = opened === undefined ? holding : deliveryTo(opened, options);
      try {
        while (!signal.aborted) {
          try {
            // A delivered event cannot be removed from the queue.
            if (await isReadOnly(records)) await sleep(retryMs, undefined, { signal });
            else {
              const retry = { maxMs: maxRejectedMs };
              await deliverQueue({ ...options, retry, target: name, delivery, bounds, random: randomBytes });
            }
          } catch (error) {
            if (signal.aborted || isOver(error)) return;
            log.error({ err: error, target: name, retryInMs: retryMs }, `the queue of ${name} could not be delivered`);
            await pause(retryMs, signal);
          }
        }
      } finally {
        await opened?.close();
      }
    }),
  );
}

function deliveryTo(target: NotificationTarget, { digests, source }: DeliverEventsOptions): Delivery {
  return {
    async deliver(entry) {
      const event = decodeEvent(entry);
      const { bucket, current } = event;
      const details = {
        sequencer: sequencerOf(entry.revision),
        etag: await etagOfEvent(event, digests),
        ...(typeof current === 'object' && { currentEtag: await etagOfEvent({ ...current, bucket }, digests) }),
      };
      await target.send(eventMessage(event, source(), details));
    },
    isSeparate: target.isSeparate === true,
    ...(target.reach && { reach: target.reach }),
    // A damaged event waits, and those of other objects go on.
    isOfEvent: (error) =>
      (error instanceof DeliveryError && error.code === 'rejected') ||
      isUnreadable(error) ||
      isStoreError(error, 'ciphertext-damaged'),
  };
}

/** Returns the ETag as clients see it. A sealed one needs the key of the backend. */
export async function etagOfEvent(
  { bucket, object }: Pick<QueuedEvent, 'bucket' | 'object'>,
  digests: DigestKeys,
): Promise<string | undefined> {
  if (object === undefined) return undefined;
  const { id, etag } = object;
  return (await openDigests({ digests }, { bucket, id, part: 0 }, { etag })).etag;
}
