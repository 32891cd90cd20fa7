import { describe, expect, it } from 'vitest';
import { backoffMs, retry } from './backoff.ts';

const transient = { isTransient: () => true };

describe('a call that is tried again', () => {
  it('ends with the first success', async () => {
    const attempts: number[] = [];
    const answer = await retry(
      async (number) => {
        attempts.push(number);
        if (number < 2) throw new Error('away');
        return 'there';
      },
      { ...transient, forMs: 60_000 },
    );
    expect([answer, attempts]).toEqual(['there', [0, 1, 2]]);
  });

  it('ends with a failure that another attempt does not cure', async () => {
    let attempts = 0;
    const call = retry(() => Promise.reject(new Error(`no ${attempts++}`)), {
      forMs: 60_000,
      isTransient: () => false,
    });
    await expect(call).rejects.toThrow('no 0');
    expect(attempts).toBe(1);
  });

  it('ends with the last failure when the time is over', async () => {
    let now = 0;
    let attempts = 0;
    const call = retry(
      () => {
        now += 4000;
        return Promise.reject(new Error(`no ${attempts++}`));
      },
      { ...transient, forMs: 10_000, now: () => now },
    );
    await expect(call).rejects.toThrow('no 2');
  });

  it('ends when the caller aborts the waiting', async () => {
    const signal = AbortSignal.abort();
    await expect(
      retry(() => Promise.reject(new Error('away')), { ...transient, forMs: 60_000, signal }),
    ).rejects.toThrow('away');
  });
});

describe('an exponential back-off', () => {
  const timing = { firstMs: 50, maxMs: 1_000 };

  it('doubles up to its limit', () => {
    expect([0, 1, 2, 3, 11, 1_000].map((failures) => backoffMs(failures, timing, () => 1))).toEqual([
      0, 50, 100, 200, 1_000, 1_000,
    ]);
  });

  it('leaves up to half of a delay to chance', () => {
    expect([0, 0.5, 1].map((random) => backoffMs(3, timing, () => random))).toEqual([100, 150, 200]);
  });

  it('has the jitter that the caller asks for', () => {
    const delays = [0, 0.5, 1].map((jitter) => backoffMs(3, { ...timing, jitter }, () => 0));
    expect(delays).toEqual([200, 100, 0]);
  });
});
