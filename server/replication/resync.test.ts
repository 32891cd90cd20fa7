import { randomBytes } from 'node:crypto';
import { expect, it, vi } from 'vitest';
import { outboxKeys, uniquePart } from '../objects/events/outbox.ts';
import { encodeRecord } from '../objects/records/record-format.ts';
import { replicationQueue } from '../objects/replication/queue-replication.ts';
import { commitOnce } from '../store/commits.ts';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import { remoteTarget } from '../../test/support/replication/remote-target.ts';
import { TargetStats } from './replication-stats.ts';
import { unlimited } from '../maintenance/pace.ts';
import { walkForResync } from './resync.ts';
import { encodeState, type QueueState } from '../outbox/queue-state.ts';
import { StoreError } from '../store/store-error.ts';

const id = '6a9a8c5e-0c39-4b0b-9d58-1f8e2f0b8a11';

it('a resync waits for the rate of all walks with each page', async () => {
  const records = new MemoryRecordStore();
  const stats = await TargetStats.open(records, id);
  const read: number[] = [];
  const version = { key: 'a', versionId: 'null', modified: 0, size: 1, isLatest: true, deleteMarker: false };
  await walkForResync({
    records,
    objects: {
      listObjectVersions: ({ keyMarker }) =>
        Promise.resolve({
          versions: [version as never, version as never],
          commonPrefixes: [],
          ...(keyMarker === '' && { next: { key: 'a' } }),
        }),
      queueResync: () => Promise.resolve(false),
    },
    stored: remoteTarget(id, { resync: { id: 'resync', before: 1 } }),
    stats,
    reads: async (records) => void read.push(records),
    signal: new AbortController().signal,
    log: { warn: () => undefined },
  });
  expect(read).toEqual([2, 2]);
});

it('a resync that meets a damaged record ends as failed, so that the delivery of the queue is not begun again and again', async () => {
  const records = new MemoryRecordStore();
  const stats = await TargetStats.open(records, id);
  const logged: object[] = [];
  await walkForResync({
    records,
    objects: {
      listObjectVersions: () => Promise.reject(new StoreError('unreadable-record', 'a record is damaged')),
      queueResync: () => Promise.resolve(true),
    },
    stored: remoteTarget(id, { resync: { id: 'resync', before: 1 } }),
    stats,
    reads: unlimited,
    signal: new AbortController().signal,
    log: { warn: (fields) => void logged.push(fields) },
  });
  expect(stats.current.resync).toMatchObject({ id: 'resync', walked: true, failed: { count: 1 }, queued: 1 });
  expect(stats.current.resync?.ended).toBeGreaterThan(0);
  expect(logged).toMatchObject([{ bucket: 'bucket', resync: 'resync' }]);
});

const none = { count: 0, bytes: 0 };
const refuse = () => Promise.reject(new Error('a canceled resync walks no more'));

/** A change in the queue of the target, of a resync or of a client. */
const change = (key: string, resync?: string) => {
  const entry = { kind: 'version', time: 1, bucket: 'bucket', key, versionId: 'null', size: 1, resync };
  const place = { ...entry, time: 1 };
  return {
    key: outboxKeys.event(replicationQueue(id), place, uniquePart(place, randomBytes)),
    value: encodeRecord(entry),
  };
};

it('a resync that is canceled walks no more, and ends when what it has queued is sent, with its counts', async () => {
  const records = new MemoryRecordStore();
  const [queued, other] = [change('a', 'resync'), change('b')];
  await commitOnce(records, { put: [queued, other] }, randomBytes);
  const stats = await TargetStats.open(records, id);
  const before = { id: 'resync', before: 1, started: 1, walked: false, queued: 3, failed: none };
  stats.setResync({ ...before, next: { key: 'a' }, replicated: { count: 2, bytes: 2 } });
  const walk = walkForResync({
    records,
    objects: { listObjectVersions: refuse, queueResync: refuse },
    stored: remoteTarget(id, { resync: { id: 'resync', before: 1, canceled: 5 } }),
    stats,
    reads: unlimited,
    signal: new AbortController().signal,
    log: { warn: () => undefined },
  });
  await vi.waitFor(() => expect(stats.current.resync).toMatchObject({ canceled: 5, walked: true }));
  expect(stats.current.resync?.ended).toBeUndefined();
  await commitOnce(records, { delete: [queued.key] }, randomBytes);
  stats.count({ kind: 'replicated', bytes: 1, resync: 'resync' });
  await walk;
  expect(stats.current.resync).toEqual({
    ...before,
    walked: true,
    canceled: 5,
    replicated: { count: 3, bytes: 3 },
    ended: expect.any(Number) as number,
  });
});

it('a resync begins however many changes the target refuses', async () => {
  const records = new MemoryRecordStore();
  const stats = await TargetStats.open(records, id);
  const held = { events: 20_000, since: 1, error: 'AccessDenied' };
  const state: QueueState = { events: 20_500, bytes: 1, delivered: 0, failures: 1, held };
  await commitOnce(
    records,
    { put: [{ key: outboxKeys.state(replicationQueue(id)), value: encodeState(state) }] },
    randomBytes,
  );
  const ending = new AbortController();
  let walked = 0;
  await walkForResync({
    records,
    objects: {
      listObjectVersions: () => {
        walked += 1;
        return Promise.resolve({ versions: [], commonPrefixes: [] });
      },
      queueResync: refuse,
    },
    stored: remoteTarget(id, { resync: { id: 'resync', before: 1 } }),
    stats,
    reads: unlimited,
    signal: ending.signal,
    log: { warn: () => undefined },
  });
  expect(walked).toBe(1);
});

it('a resync whose last counts a kill has lost ends with its queue', async () => {
  const records = new MemoryRecordStore();
  const stats = await TargetStats.open(records, id);
  const lost = { id: 'resync', before: 1, started: 1, walked: true, queued: 3, failed: none, replicated: none };
  stats.setResync(lost);
  await walkForResync({
    records,
    objects: { listObjectVersions: refuse, queueResync: refuse },
    stored: remoteTarget(id, { resync: { id: 'resync', before: 1 } }),
    stats,
    reads: unlimited,
    signal: new AbortController().signal,
    log: { warn: () => undefined },
  });
  expect(stats.current.resync).toEqual({ ...lost, ended: expect.any(Number) as number });
});
