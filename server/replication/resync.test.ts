import { expect, it } from 'vitest';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import { remoteTarget } from '../../test/support/replication/remote-target.ts';
import { TargetStats } from './replication-stats.ts';
import { unlimited } from '../maintenance/pace.ts';
import { walkForResync } from './resync.ts';
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
