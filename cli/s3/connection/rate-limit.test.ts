import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { parseRate, RateLimit } from './rate-limit.ts';

const { signal } = new AbortController();

/** A clock that a wait moves on. */
function testClock() {
  const clock = {
    time: 0,
    now: () => clock.time,
    wait: async (milliseconds: number) => {
      clock.time += milliseconds;
    },
  };
  return clock;
}

describe('a limit of bytes per second', () => {
  it('lets bytes pass in the time that they take', async () => {
    const clock = testClock();
    const limit = new RateLimit(1_000, clock);
    const passed = await Array.fromAsync(limit.pace([Buffer.alloc(700), Buffer.alloc(1_301)], signal));
    expect(Buffer.concat(passed).length).toBe(2_001);
    expect(Math.max(...passed.map(({ length }) => length))).toBe(125);
    // The first bytes pass at once.
    expect(clock.time).toBeGreaterThan(1_850);
    expect(clock.time).toBeLessThanOrEqual(2_001);
  });

  it('is shared by those that wait', async () => {
    const clock = testClock();
    const limit = new RateLimit(100, clock);
    await Promise.all([1, 2, 3].map(async () => limit.take(100, signal)));
    await limit.take(0, signal);
    expect(clock.time).toBeGreaterThanOrEqual(3_000);
  });

  it('does not save up what was not used', async () => {
    const clock = testClock();
    const limit = new RateLimit(100, clock);
    clock.time = 60_000;
    await limit.take(100, signal);
    await limit.take(100, signal);
    expect(clock.time).toBe(61_000);
  });

  it('ends with the failure of the body that it paces', async () => {
    const failing = Readable.from(
      (function* () {
        yield Buffer.from('a');
        throw new Error('broken off');
      })(),
      { objectMode: false },
    );
    const paced = new RateLimit(1e9).paceStream(failing, signal);
    await expect(Array.fromAsync(paced)).rejects.toThrow('broken off');
  });

  it.each([
    ['1000', 1_000],
    ['10k', 10_000],
    ['10KiB', 10_240],
    ['1.5MiB/s', 1_572_864],
    ['2G', 2e9],
  ])('is written as %s', (text, bytes) => {
    expect(parseRate('--limit-upload', text)).toBe(bytes);
  });

  it.each(['', '0', '-1', 'fast', '10 apples', '5i'])('is not written as %j', (text) => {
    expect(() => parseRate('--limit-upload', text)).toThrow('Invalid --limit-upload');
  });
});
