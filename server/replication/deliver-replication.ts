import type { StructuredLog } from '../../platform/output/structured-log.ts';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { pause } from '../../platform/async/backoff.ts';
import type { ObjectLayer, ReplicationOutcome } from '../objects/contract/object-layer.ts';
import { outboxKeys } from '../objects/events/outbox.ts';
import { isUnreadable } from '../objects/records/damage.ts';
import { findBucket } from '../objects/records/bucket-record.ts';
import { decodeReplication, replicationQueue, targetOfQueue } from '../objects/replication/queue-replication.ts';
import { DeliveredEvents } from '../outbox/delivered-events.ts';
import { deliverQueue, type Delivery, heldDelivery } from '../outbox/deliver-queue.ts';
import type { ProcessorShare } from '../outbox/processor-share.ts';
import type { QueueBounds } from '../outbox/queue-state.ts';
import { queuedTargets, readWindow } from '../outbox/read-queue.ts';
import { commitOnce, isReadOnly } from '../store/commits.ts';
import { within } from '../store/keys.ts';
import { type Entry, type RecordStore, scanPages } from '../store/record-store.ts';
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
  readonly log: Pick<StructuredLog, 'info' | 'warn' | 'error'>;
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
/** Changes of a removed target that are read at a time. */
const windowSize = 1_000;
/** Records that one commit removes. */
const removedAtOnce = 128;
/** Milliseconds between two looks at an empty queue for whose target answers wait; `shared`: each is a query of a database. */
const synchronousIdleMs = { own: 20, shared: 100 };
/** Milliseconds after which a change that the target refused is sent again. */
const rejectedMs = 30_000;
/** Milliseconds after a failure of the store. */
const retryMs = 2_000;

/** A version that finds its queue full has failed, and a resync sends it. An entry has some 300 bytes. */
const replicationBounds: QueueBounds = { events: 1_000_000, bytes: 1024 ** 3, whenFull: 'drop', exceptHeld: true };

/** Delivers the queues of all remote targets while this server holds the lease, until the signal aborts it. Its commits are fenced. */
export async function deliverReplication(options: DeliverReplicationOptions): Promise<void> {
  const { targets, signal } = options;
  const running = new Map<
    string,
    { readonly revision: number; readonly stop: AbortController; readonly done: Promise<void> }
  >();
  /** The queues of removed targets, which the others do not wait for. */
  const dropping = new Map<string, Promise<void>>();
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
        if (options.held !== undefined || id === undefined || ids.has(id) || dropping.has(id)) continue;
        dropping.set(
          id,
          dropQueue(options, id).finally(() => dropping.delete(id)),
        );
      }
      await pause(lookMs, signal);
    }
  } finally {
    for (const id of running.keys()) running.get(id)?.stop.abort();
    await Promise.all([...[...running.values()].map(({ done }) => done), ...dropping.values()]);
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
    // Also where a change of the target begins its work anew. Another server that holds the lease refuses it.
    await stats.write().catch(() => undefined);
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
    retry: { firstMs: rejectedMs, maxMs: rejectedMs },
    ...(stored.target.sync !== true && { share }),
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

/** Removes the queue of a target that was removed. It logs failures of the store, and the next look begins again. */
async function dropQueue(options: DeliverReplicationOptions, id: string): Promise<void> {
  const { records, signal, log, isOver } = options;
  try {
    if (!(await isReadOnly(records))) await forgetTarget(options, id);
  } catch (error) {
    if (signal.aborted || isOver(error)) return;
    log.error(
      { err: error, target: id, retryInMs: retryMs },
      `the queue of the removed target ${id} could not be removed`,
    );
    await pause(retryMs, signal);
  }
}

/** Removes what is queued for a target that was removed: no version waits for it any more. */
async function forgetTarget({ records, objects, signal, log }: DeliverReplicationOptions, id: string): Promise<void> {
  const queue = replicationQueue(id);
  await forgetHeld(records, queue);
  for (;;) {
    const { groups } = await readWindow(records, queue, { from: undefined, limit: windowSize });
    if (groups.length === 0) break;
    const dropped = new DeliveredEvents<ReplicationOutcome | undefined>({
      commit: async (batch) => (await commitOnce(records, batch, randomBytes)).kind === 'committed',
      settle: async (outcomes, commit) => {
        try {
          return await objects.setReplicationStatuses(
            outcomes.filter((outcome) => outcome !== undefined),
            commit,
          );
        } catch (error) {
          // A damaged record keeps its state.
          if (!isUnreadable(error) || outcomes.length > 1) throw error;
          return commit({});
        }
      },
      isOfEvent: isUnreadable,
    });
    for (const entry of groups.flat()) dropped.add(entry.key, forgottenBy(entry, id, log));
    await dropped.end();
    if (signal.aborted) return;
  }
  await commitOnce(records, { delete: [outboxKeys.state(queue), outboxKeys.dropped(queue)] }, randomBytes);
  await removeStats(records, id);
}

/** Removes the records of refused changes, while the changes say that there is a queue to forget. */
async function forgetHeld(records: RecordStore, queue: string): Promise<void> {
  for await (const page of scanPages(records, within('outbox-held', queue))) {
    const keys = page.flatMap((item) => (item.kind === 'entry' ? [item.key] : []));
    for (let at = 0; at < keys.length; at += removedAtOnce)
      await commitOnce(records, { delete: keys.slice(at, at + removedAtOnce) }, randomBytes);
  }
}

function forgottenBy(
  entry: Entry,
  target: string,
  log: DeliverReplicationOptions['log'],
): ReplicationOutcome | undefined {
  try {
    const { kind, bucket, key, versionId } = decodeReplication(entry);
    if (kind === 'removal') return undefined;
    return { bucket, key, versionId, target, status: 'FORGOTTEN', changed: undefined };
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    log.warn(
      { err: error, target },
      `a change in the queue of the removed target ${target} is damaged, and is removed`,
    );
    return undefined;
  }
}
