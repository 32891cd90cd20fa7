import { describe, expect, it } from 'vitest';
import { pace, unlimited } from './pace.ts';

/** A clock that the waits move. */
function testClock() {
  let now = 0;
  const waits: number[] = [];
  return {
    waits,
    advance: (ms: number) => {
      now += ms;
    },
    options: {
      clock: () => now,
      wait: async (ms: number) => {
        waits.push(ms);
      },
    },
  };
}

describe('pace', () => {
  it('waits for what has not passed yet', async () => {
    const { waits, options } = testClock();
    const reads = pace(100, options);
    await reads(50);
    await reads(50);
    expect(waits).toEqual([500, 1_000]);
  });

  it('shares its rate between the tasks that call it: each waits for the others too', async () => {
    const { waits, options } = testClock();
    const reads = pace(1_000, options);
    await Promise.all([reads(100), reads(100), reads(100)]);
    expect(waits).toEqual([100, 200, 300]);
  });

  it('keeps at most a second of unused time', async () => {
    const { waits, advance, options } = testClock();
    const reads = pace(100, options);
    advance(60_000);
    await reads(100);
    await reads(100);
    expect(waits).toEqual([1_000]);
  });

  it('does not wait without a limit', async () => {
    const { waits, options } = testClock();
    await pace(Infinity, options)(1e12);
    await unlimited(1e12);
    expect(waits).toEqual([]);
  });

  it('ends the wait of one task when its own signal is aborted', async () => {
    const reads = pace(1e-6);
    await expect(reads(1, AbortSignal.abort())).rejects.toThrow('aborted');
  });
});
