import { describe, expect, it } from 'vitest';
import { retry, retryDelay } from './backoff.ts';

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

  it('ends where nobody wants the answer any more', async () => {
    const signal = AbortSignal.abort();
    await expect(
      retry(() => Promise.reject(new Error('away')), { ...transient, forMs: 60_000, signal }),
    ).rejects.toThrow('away');
  });

  it('waits twice as long each time up to a second, by chance up to half less', () => {
    expect([0, 1, 2, 10, 1000].map((number) => retryDelay(number, 1))).toEqual([50, 100, 200, 1000, 1000]);
    expect(retryDelay(3, 0)).toBe(200);
  });
});
