import { describe, expect, it } from 'vitest';
import { prefixOf } from '../../store/keys.ts';
import { MemoryRecordStore } from '../../store/memory/record-store.ts';
import type { RecordStore } from '../../store/record-store.ts';
import { compareCounts } from './compare-counts.ts';

const group = prefixOf('o', 'photos');

async function compared(counted: Awaited<ReturnType<NonNullable<RecordStore['counted']>>>) {
  const records: RecordStore = Object.assign(new MemoryRecordStore(), { counted: () => Promise.resolve(counted) });
  const comparison = compareCounts(records);
  const issues: string[] = [];
  for (;;) {
    const { done, value } = await comparison.next();
    if (done === true) return { issues, uncounted: value };
    issues.push(value.message);
  }
}

describe('compareCounts', () => {
  it('finds nothing where the records are those that were counted', async () => {
    const counts = [{ group, records: 2, bytes: 10, sums: [7, 9] as const }];
    expect(await compared({ counts, found: counts })).toEqual({ issues: [], uncounted: undefined });
  });

  it('tells how many records of a group are lost, also where all of them are', async () => {
    const count = { group, records: 2, bytes: 10, sums: [7, 9] as const };
    expect((await compared({ counts: [count], found: [{ ...count, records: 1 }] })).issues).toEqual([
      'the records ["o","photos"] should be 2, and are 1: 1 are lost',
    ]);
    expect((await compared({ counts: [count], found: [] })).issues).toEqual([
      'the records ["o","photos"] should be 2, and are 0: 2 are lost',
    ]);
  });

  it('names what has no counts', async () => {
    expect((await compared({ never: 'CockroachDB' })).uncounted).toBe('CockroachDB has no counts of its records');
    expect((await compared(undefined)).uncounted).toContain('an older server wrote some of these records');
  });
});
