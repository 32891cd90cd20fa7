import { describe, expect, it } from 'vitest';
import { Bandwidth } from './bandwidth.ts';

describe('the bandwidth of a target', () => {
  it('lets through what the limit allows, and makes the rest wait', async () => {
    let now = 0;
    const waits: number[] = [];
    const wait = (ms: number) => {
      waits.push(ms);
      now += ms;
      return Promise.resolve();
    };
    const { signal } = new AbortController();
    const bandwidth = new Bandwidth({ limit: 1_000, signal, clock: () => now, wait });
    for (let count = 0; count < 4; count += 1) await bandwidth.whole(Buffer.alloc(500));
    expect(waits).toEqual([500, 500, 500]);
    now += 10_000;
    await bandwidth.whole(Buffer.alloc(500));
    expect(waits).toHaveLength(3);
  });

  it('does not wait without a limit', async () => {
    const { signal } = new AbortController();
    const bandwidth = new Bandwidth({ limit: 0, signal, wait });
    for (let count = 0; count < 3; count += 1) await bandwidth.whole(Buffer.alloc(500));
    expect(await Array.fromAsync(bandwidth.paced(chunks()))).toHaveLength(2);
  });
});

const wait = () => Promise.reject(new Error('it waited'));

async function* chunks(): AsyncGenerator<Buffer> {
  yield Buffer.alloc(10);
  yield Buffer.alloc(10);
}
