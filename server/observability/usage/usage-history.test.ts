import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { MemoryRecordStore } from '../../store/memory/record-store.ts';
import type { BucketUsage, Usage } from './usage.ts';
import { UsageHistory } from './usage-history.ts';

const bucket = (name: string, bytes: number): BucketUsage => ({
  bucket: name,
  objects: 1,
  bytes,
  versions: 0,
  deleteMarkers: 0,
  uploads: 0,
  uploadBytes: 0,
  sizes: [],
  keys: [],
});

function usageAt(time: string, buckets: readonly BucketUsage[]): Usage {
  const ended = Date.parse(time);
  const bytes = buckets.reduce((sum, one) => sum + one.bytes, 0);
  return { ...bucket('', bytes), objects: buckets.length, began: ended, ended, answers: 0, unreadable: 0, buckets };
}

function historyOf() {
  const state: { last: Usage | undefined } = { last: undefined };
  const records = new MemoryRecordStore();
  const history = new UsageHistory({
    records,
    random: randomBytes,
    usage: { last: () => Promise.resolve(state.last) },
  });
  return {
    history,
    count: async (time: string, ...buckets: readonly BucketUsage[]) => {
      state.last = usageAt(time, buckets);
      await history.take();
    },
  };
}

describe('the history of the usage', () => {
  it('is empty before the first count', async () => {
    const { history } = historyOf();
    await history.take();
    expect(await history.read()).toEqual([]);
  });

  it('has the last count of each day', async () => {
    const { history, count } = historyOf();
    await count('2026-01-01T10:00:00Z', bucket('a', 1));
    await count('2026-01-01T20:00:00Z', bucket('a', 5), bucket('b', 7));
    await count('2026-01-02T01:00:00Z', bucket('a', 9));
    expect(await history.read()).toEqual([
      {
        day: '2026-01-01',
        objects: 2,
        bytes: 12,
        buckets: [
          { bucket: 'b', objects: 1, bytes: 7 },
          { bucket: 'a', objects: 1, bytes: 5 },
        ],
      },
      { day: '2026-01-02', objects: 1, bytes: 9, buckets: [{ bucket: 'a', objects: 1, bytes: 9 }] },
    ]);
  });

  it('keeps rows of the 50 largest buckets, and 90 days', async () => {
    const { history, count } = historyOf();
    await count('2026-01-01T00:00:00Z', bucket('a', 1));
    await count('2026-06-01T00:00:00Z', ...Array.from({ length: 80 }, (_, index) => bucket(`b${index}`, index)));
    const days = await history.read();
    expect(days).toHaveLength(1);
    expect(days[0]?.buckets).toHaveLength(50);
    expect(days[0]?.buckets[0]?.bucket).toBe('b79');
    expect(days[0]?.objects).toBe(80);
  });
});
