import type { StructuredLog } from '../../platform/output/structured-log.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { forEachLimit } from '../../platform/async/concurrency.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { ListedVersion, ObjectLayer } from '../objects/contract/object-layer.ts';
import { isUnreadable } from '../objects/records/damage.ts';
import type { Pace } from '../maintenance/pace.ts';
import { decodeReplication, replicationQueue } from '../objects/replication/queue-replication.ts';
import { readState } from '../outbox/queue-state.ts';
import { within } from '../store/keys.ts';
import type { Entry, RecordStore } from '../store/record-store.ts';
import type { StoredTarget } from './remote-targets.ts';
import type { ResyncState, TargetStats } from './replication-stats.ts';

interface ResyncOptions {
  readonly records: RecordStore;
  readonly objects: Pick<ObjectLayer, 'listObjectVersions' | 'queueResync'>;
  readonly stored: StoredTarget;
  readonly stats: TargetStats;
  /** Waits until more records may be read. */
  readonly reads: Pace;
  readonly signal: AbortSignal;
  readonly log: Pick<StructuredLog, 'warn'>;
}

const pageSize = 500;
/** Versions that are queued at a time. */
const concurrency = 8;
/** A queue with more changes that are not held is delivered first: a resync must not fill it. */
const maxQueued = 10_000;
const waitMs = 1_000;

/**
 * Queues what a resync sends, page by page. After an interruption it goes on with the page that was interrupted. One that is canceled queues no
 * more, and ends when what it has queued is sent.
 */
export async function walkForResync(options: ResyncOptions): Promise<void> {
  const { stats, stored, signal } = options;
  const asked = stored.target.resync;
  if (asked === undefined) return;
  let state: ResyncState =
    stats.current.resync?.id === asked.id ? stats.current.resync : newResync(asked.id, asked.before);
  if (asked.canceled !== undefined && state.ended === undefined) {
    const { next: _next, ...rest } = state;
    state = { ...rest, walked: true, canceled: asked.canceled };
  }
  stats.setResync(state);
  while (!state.walked && !signal.aborted) {
    await untilQueueIsShort(options);
    state = await queueNext(options, state);
  }
  while (!signal.aborted) {
    if ((stats.current.resync ?? state).ended !== undefined) return;
    const began = performance.now();
    if (!(await isQueued(options, asked.id))) {
      stats.setResync({ ...(stats.current.resync ?? state), ended: Date.now() });
      return;
    }
    // A long queue is read for a tenth of the time at most.
    const pauseMs = Math.max(waitMs, 10 * (performance.now() - began));
    await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

/** The queue decides when a resync is over, since a kill may have left the counts of its deliveries behind. */
async function isQueued({ records, stored, signal }: ResyncOptions, id: string): Promise<boolean> {
  for await (const item of records.scan(within('outbox', replicationQueue(stored.id)))) {
    if (signal.aborted || (item.kind === 'entry' && isOf(item, id))) return true;
  }
  return false;
}

function isOf(entry: Entry, id: string): boolean {
  try {
    return decodeReplication(entry).resync === id;
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return false;
  }
}

function newResync(id: string, before: number): ResyncState {
  const none = { count: 0, bytes: 0 };
  return { id, before, started: Date.now(), walked: false, queued: 0, replicated: none, failed: none };
}

async function untilQueueIsShort({ records, stored, signal }: ResyncOptions): Promise<void> {
  while (!signal.aborted) {
    const state = await readState(records, replicationQueue(stored.id));
    if ((state?.events ?? 0) - (state?.held?.events ?? 0) < maxQueued) return;
    await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

/** A damaged record ends the walk: it would meet the record each time, and end the delivery of the queue with it. */
async function queueNext(options: ResyncOptions, state: ResyncState): Promise<ResyncState> {
  try {
    return await queuePage(options, state);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    const { stats, stored, log } = options;
    const bucket = stored.target.sourceBucket;
    const { next: _next, ...rest } = stats.current.resync ?? state;
    const failed = { ...rest.failed, count: rest.failed.count + 1 };
    const ended: ResyncState = { ...rest, walked: true, queued: rest.queued + 1, failed };
    stats.setResync(ended);
    log.warn({ err: error, bucket, resync: state.id }, 'a resync ends before its last version, at a damaged record');
    return ended;
  }
}

async function queuePage(options: ResyncOptions, { id, before, next: from }: ResyncState): Promise<ResyncState> {
  const { objects, stored, stats, reads, signal } = options;
  const bucket = stored.target.sourceBucket;
  const { versions, next } = await listed(objects, bucket, from);
  // A stop ends the walk after this page.
  await reads(versions.length, signal).catch(() => undefined);
  const due = versions.filter(({ modified }) => modified < before);
  let queued = 0;
  // The versions of a key are queued from the oldest to the newest.
  await forEachLimit([...byKey(due).values()], concurrency, async (ofKey) => {
    for (const { key, versionId } of ofKey.toReversed()) {
      if (await objects.queueResync({ bucket, key, versionId, target: stored.id, resync: id })) queued += 1;
    }
  });
  const { next: _next, ...state } = stats.current.resync ?? newResync(id, before);
  const after: ResyncState = {
    ...state,
    queued: state.queued + queued,
    walked: next === undefined,
    ...(next !== undefined && { next }),
  };
  stats.setResync(after);
  // After a kill, the versions of one page at most are queued and counted twice.
  await stats.write();
  return after;
}

async function listed(objects: ResyncOptions['objects'], bucket: string, from: ResyncState['next']) {
  try {
    return await objects.listObjectVersions({
      bucket,
      prefix: '',
      delimiter: '',
      keyMarker: from?.key ?? '',
      versionIdMarker: from?.versionId,
      limit: pageSize,
    });
  } catch (error) {
    if (error instanceof S3Error && error.code === 'NoSuchBucket') return { versions: [], next: undefined };
    throw error;
  }
}

function byKey(versions: readonly ListedVersion[]): Map<string, readonly ListedVersion[]> {
  return Map.groupBy(versions, ({ key }) => key);
}
