import { expect, it } from 'vitest';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import { type CountedDelivery, readStats, TargetStats } from './replication-stats.ts';

const id = '6a9a8c5e-0c39-4b0b-9d58-1f8e2f0b8a11';
const sent: CountedDelivery = { kind: 'replicated', bytes: 4, resync: undefined };
const none = { count: 0, bytes: 0 };

it('counts the deliveries of the resync that runs for it too', async () => {
  const stats = await TargetStats.open(new MemoryRecordStore(), id);
  const running = { id: 'resync', before: 1, started: 1, walked: true, queued: 1, replicated: none, failed: none };
  stats.setResync(running);
  stats.count(sent);
  stats.count({ kind: 'failed', bytes: 2, resync: 'resync' });
  stats.count({ ...sent, resync: 'an earlier one' });
  expect(stats.current).toEqual({
    replicated: { count: 2, bytes: 8 },
    failed: { count: 1, bytes: 2 },
    resync: { ...running, failed: { count: 1, bytes: 2 } },
  });
});

it('stores the newest counts last, also of writes at the same time', async () => {
  const records = new MemoryRecordStore();
  const stats = await TargetStats.open(records, id);
  stats.count(sent);
  const first = stats.write();
  stats.count(sent);
  await Promise.all([first, stats.write()]);
  expect((await readStats(records, id)).replicated).toEqual({ count: 2, bytes: 8 });
});
