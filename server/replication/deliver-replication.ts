import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { pause } from '../../platform/backoff.ts';
import type { ObjectLayer } from '../objects/object-layer.ts';
import { outboxKeys } from '../objects/events/outbox.ts';
import { findBucket } from '../objects/records/bucket-record.ts';
import { replicationQueue, targetOfQueue } from '../objects/replication/queue-replication.ts';
import { deliverQueue, type Delivery, heldDelivery } from '../outbox/deliver-queue.ts';
import type { ProcessorShare } from '../outbox/processor-share.ts';
import type { QueueBounds } from '../outbox/queue-state.ts';
import { queuedTargets } from '../outbox/read-queue.ts';
import { commitOnce, isReadOnly } from '../store/commits.ts';
import { within } from '../store/keys.ts';
import { type Key, type RecordStore, scanPages } from '../store/record-store.ts';
import { ReplicationDelivery } from './replicate-to.ts';
import type { RemoteTargets, StoredTarget } from './remote-targets.ts';
import { removeStats, TargetStats } from './replication-stats.ts';
import type { Pace } from '../maintenance/pace.ts';
import { walkForResync } from './resync.ts';

interface DeliverReplicationOptions {
  readonly records: RecordStore;
  readonly targets: RemoteTargets;
  readonly objects: Pick<
    ObjectLayer,
    | 'getObject'
    | 'headObject'
    | 'setReplicationStatus'
    | 'setReplicationStatuses'
    | 'getBucketReplication'
    | 'listObjectVersions'
    | 'queueResync'
  >;
  readonly signal: AbortSignal;
  readonly log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
  /** Reports whether an error ends the work: another server delivers now. */
  readonly isOver: (error: unknown) => boolean;
  readonly idleMs?: number;
  /** Why all changes wait: no target is asked, and none is removed. Undefined for a store that goes on for its deployment. */
  readonly held?: string | undefined;
  /** Waits until more records may be read. */
  readonly reads: Pace;
  /** Makes changes wait while requests need the processors. */
  readonly share?: Pick<ProcessorShare, 'before'> | undefined;
}

/** Milliseconds between two looks at the remote targets. */
const lookMs = 1_000;
const saveMs = 1_000;
/** Milliseconds between two looks at an empty queue for whose target answers wait; `shared`: each is a query of a database. */
const synchronousIdleMs = { own: 20, shared: 100 };
/** Milliseconds between two looks at such a queue while the target refuses versions in it. */
const synchronousRejectedMs = 250;
/** Milliseconds after a failure of the store. */
const retryMs = 2_000;

/** A version that finds its queue full has failed, and a resync sends it. An entry has some 300 bytes. */
export const replicationBounds: QueueBounds = { events: 1_000_000, bytes: 1024 ** 3, whenFull: 'drop' };

/** Delivers the queues of all remote targets while this server holds the lease, until the signal aborts it. Its commits are fenced. */
export async function deliverReplication(options: DeliverReplicationOptions): Promise<void> {
  const { targets, signal } = options;
  const running = new Map<
    string,
    { readonly revision: number; readonly stop: AbortController; readonly done: Promise<void> }
  >();
  const end = async (id: string) => {
    const work = running.get(id);
    running.delete(id);
    work?.stop.abort();
    await work?.done;
  };
  try {
    while (!signal.aborted) {
      const queues = await queuedTargets(options.records);
      const known = await targets.all();
      const ids = new Set(known.map(({ id }) => id));
      for (const id of running.keys()) if (!ids.has(id)) await end(id);
      for (const stored of known) {
        // The bucket was removed with its rules.
        if (
          options.held === undefined &&
          (await findBucket(options.records, stored.target.sourceBucket)) === undefined &&
          !(await removalsWait(options.records, stored))
        ) {
          await targets.remove(stored);
          continue;
        }
        if (running.get(stored.id)?.revision === stored.revision) continue;
        await end(stored.id);
        const stop = new AbortController();
        const done = runTarget(options, stored, AbortSignal.any([signal, stop.signal]));
        running.set(stored.id, { revision: stored.revision, stop, done });
      }
      // The queues were listed before the targets: what they have is of a target that was removed.
      for (const queue of queues) {
        const id = targetOfQueue(queue);
        if (options.held === undefined && id !== undefined && !ids.has(id))
          await dropQueue(options.records, id, signal);
      }
      await pause(lookMs, signal);
    }
  } finally {
    for (const id of running.keys()) running.get(id)?.stop.abort();
    await Promise.all([...running.values()].map(({ done }) => done));
  }
}

/** The bucket of another site is removed too, and must be empty then. */
async function removalsWait(records: RecordStore, { id, target }: StoredTarget): Promise<boolean> {
  if (target.site === undefined) return false;
  for await (const _change of records.scan({ ...within('outbox', replicationQueue(id)), limit: 1 })) return true;
  return false;
}

/** Works for one target until the signal. It logs failures of the store, and begins again. */
async function runTarget(options: DeliverReplicationOptions, stored: StoredTarget, signal: AbortSignal): Promise<void> {
  const { records, log, isOver } = options;
  const { arn } = stored.target;
  while (!signal.aborted) {
    const failed = new AbortController();
    const either = AbortSignal.any([signal, failed.signal]);
    try {
      // A read-only store could not forget deliveries.
      if (await isReadOnly(records)) await sleep(retryMs, undefined, { signal });
      else await workFor(options, stored, either);
    } catch (error) {
      if (signal.aborted || isOver(error)) return;
      log.error({ err: error, target: arn, retryInMs: retryMs }, `the queue of ${arn} could not be delivered`);
      await pause(retryMs, signal);
    } finally {
      failed.abort();
    }
  }
}

async function workFor(options: DeliverReplicationOptions, stored: StoredTarget, signal: AbortSignal): Promise<void> {
  const { records, objects, log, reads, held } = options;
  if (held !== undefined) return deliverTo(options, stored, heldDelivery(held), signal);
  const stopping = new AbortController();
  const either = AbortSignal.any([signal, stopping.signal]);
  const stats = await TargetStats.open(records, stored.id);
  const delivery = new ReplicationDelivery({ stored, objects, stats, signal: either, log });
  const parts = [
    deliverTo(options, stored, delivery, either),
    walkForResync({ records, objects, stored, stats, reads, signal: either, log }),
    delivery.watchHealth(),
    saveAll(stats, either),
  ];
  try {
    await Promise.all(parts);
  } finally {
    stopping.abort();
    await Promise.allSettled(parts);
    delivery.close();
    if (!signal.aborted) await stats.write().catch(() => undefined);
  }
}

function deliverTo<Outcome>(
  { records, log, share, ...options }: DeliverReplicationOptions,
  stored: StoredTarget,
  delivery: Delivery<Outcome>,
  signal: AbortSignal,
): Promise<void> {
  const idleMs = idleOf(options.idleMs, stored);
  return deliverQueue({
    records,
    target: replicationQueue(stored.id),
    label: { target: describeTarget(stored), events: 'changes' },
    delivery,
    bounds: replicationBounds,
    signal,
    random: randomBytes,
    log,
    ...(idleMs !== undefined && { idleMs }),
    ...(stored.target.sync === true ? { maxRejectedMs: synchronousRejectedMs } : { share }),
  });
}

/** Describes the target for the log. The name of its queue is an ID, which means nothing to an operator. */
function describeTarget({ target: { sourceBucket, targetBucket, endpoint } }: StoredTarget): string {
  return `the replication target of bucket ${sourceBucket} (bucket ${targetBucket} at ${endpoint})`;
}

function idleOf(idleMs: number | undefined, { target }: StoredTarget): number | undefined {
  if (target.sync !== true) return idleMs;
  return idleMs === undefined ? synchronousIdleMs.own : Math.min(idleMs, synchronousIdleMs.shared);
}

async function saveAll(stats: TargetStats, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(saveMs, signal);
    await stats.write();
  }
}

/** Removes what is queued for a target that was removed. */
async function dropQueue(records: RecordStore, id: string, signal: AbortSignal): Promise<void> {
  const queue = replicationQueue(id);
  for await (const page of scanPages(records, { ...within('outbox', queue) })) {
    if (signal.aborted) return;
    const keys: Key[] = [];
    for (const item of page) if (item.kind === 'entry') keys.push(item.key);
    if (keys.length > 0) await commitOnce(records, { delete: keys }, randomBytes);
  }
  await commitOnce(records, { delete: [outboxKeys.state(queue), outboxKeys.dropped(queue)] }, randomBytes);
  await removeStats(records, id);
}
