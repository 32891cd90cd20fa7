import { describe, expect, it, vi } from 'vitest';
import { put, testLayer } from '../objects/testing.ts';
import { setReadOnly } from '../store/read-only.ts';
import { createUsageReader } from './usage-reader.ts';
import { isDue, usageRounds } from './usage-rounds.ts';

const minute = 60_000;

async function counting(options: { readonly cycleMs?: number } = {}) {
  const { layer, records } = testLayer();
  await layer.createBucket('b', { location: '' });
  let now = 1_000_000;
  const clock = () => now;
  const log = { info: vi.fn(), warn: vi.fn() };
  const round = usageRounds({ cycleMs: minute, recordsPerSecond: Infinity, log, clock, ...options });
  return {
    layer,
    records,
    log,
    reader: createUsageReader(records),
    round: () => round({ records }),
    pass: (ms: number) => void (now += ms),
  };
}

describe('usageRounds', () => {
  it('keeps what it has counted, with its time', async () => {
    const { layer, round, reader } = await counting();
    expect(await reader.last()).toBeUndefined();
    await layer.putObject(put('b', 'k', 'content'));
    await round();
    expect(await reader.last()).toMatchObject({
      began: 1_000_000,
      ended: 1_000_000,
      objects: 1,
      bytes: 7,
      buckets: [{ bucket: 'b', objects: 1, bytes: 7 }],
    });
  });

  it('rests for a cycle', async () => {
    const { layer, round, reader, pass } = await counting();
    await round();
    await layer.putObject(put('b', 'k', 'content'));
    pass(minute - 1);
    await round();
    expect(await reader.last()).toMatchObject({ objects: 0 });
    pass(1);
    await round();
    expect(await reader.last()).toMatchObject({ objects: 1 });
  });

  it('counts when somebody asks, and answers everybody who asked before it began', async () => {
    const { layer, round, reader } = await counting({ cycleMs: 0 });
    await round();
    expect(await reader.last()).toBeUndefined();
    await layer.putObject(put('b', 'k', 'content'));
    const asked = [reader.countNow(), reader.countNow()];
    await vi.waitFor(async () => {
      await round();
      expect(await reader.last()).toMatchObject({ answers: 2 });
    });
    expect((await Promise.all(asked)).map(({ objects }) => objects)).toEqual([1, 1]);
  });

  it('leaves a store alone that is read-only', async () => {
    const { records, round, reader } = await counting();
    await setReadOnly(records, true);
    await round();
    expect(await reader.last()).toBeUndefined();
  });

  it('stops asking when the server stops', async () => {
    const { reader } = await counting();
    await expect(reader.countNow(AbortSignal.abort(new Error('stopped')))).rejects.toThrow(/abort/i);
  });
});

describe('isDue', () => {
  const last = { began: 1_000, ended: 1_010, answers: 3, unreadable: 0 };
  it.each([
    ['the first count, at once', { last: undefined, asked: 0 }, 0, minute, true],
    ['no count without a cycle', { last: undefined, asked: 0 }, 0, 0, false],
    ['no count within the cycle', { last, asked: 3 }, 1_010 + minute - 1, minute, false],
    ['a count after the cycle', { last, asked: 3 }, 1_010 + minute, minute, true],
    ['a count that is asked for', { last, asked: 4 }, 1_011, minute, true],
    ['a count that is asked for, without a cycle', { last: undefined, asked: 1 }, 0, 0, true],
    [
      'no count for nine times what the last one took',
      { last: { ...last, ended: 101_000 }, asked: 3 },
      1_000_999,
      minute,
      false,
    ],
    ['a count after that', { last: { ...last, ended: 101_000 }, asked: 3 }, 1_001_000, minute, true],
    ['a count after the clock was set back', { last, asked: 3 }, 999, minute, true],
  ])('has %s', (_what, state, now, cycleMs, due) => {
    expect(isDue(state, now, cycleMs)).toBe(due);
  });
});
