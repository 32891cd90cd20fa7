import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { KubeError } from '../kube-client/kube-api.ts';
import { WorkQueue, type WorkQueueOptions } from './work-queue.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function queue(work: (key: string) => Promise<void>, more: Partial<WorkQueueOptions> = {}) {
  const done: string[] = [];
  const pauses: number[] = [];
  const made = new WorkQueue({
    work: (key) => {
      done.push(key);
      return work(key);
    },
    failed: (_key, _error, retryInMs) => pauses.push(retryInMs),
    random: () => 1,
    ...more,
  });
  return { queue: made, done, pauses };
}
const fine = () => Promise.resolve();
const fails = () => Promise.reject(new Error('no'));

describe('a queue', () => {
  it('works soon on what is asked for during the work, also after the clock of the machine was set back', async () => {
    const { queue: keys, done } = queue((): Promise<void> => {
      if (done.length > 1) return Promise.resolve();
      keys.add('a');
      vi.setSystemTime(Date.now() - 1_200_000);
      return Promise.resolve();
    });
    keys.add('a');
    await vi.advanceTimersByTimeAsync(5_000);
    expect(done).toEqual(['a', 'a']);
  });

  it('makes one of what is asked for within half a second', async () => {
    const { queue: keys, done } = queue(fine);
    keys.add('a');
    await vi.advanceTimersByTimeAsync(400);
    keys.add('a');
    await vi.advanceTimersByTimeAsync(2_000);
    expect(done).toEqual(['a']);
  });
  it('is not held up by changes that do not end', async () => {
    const { queue: keys, done } = queue(fine);
    for (let turn = 0; turn < 20; turn++) {
      keys.add('a');
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(done.length).toBeGreaterThan(2);
  });
  it('waits as long as it is told', async () => {
    const { queue: keys, done } = queue(fine);
    keys.add('a', 10_000);
    await vi.advanceTimersByTimeAsync(9_999);
    expect(done).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(done).toEqual(['a']);
  });
  it('takes the earliest of several requests', async () => {
    const { queue: keys, done } = queue(fine);
    keys.add('a', 10_000);
    keys.add('a', 100);
    keys.add('a', 5_000);
    await vi.advanceTimersByTimeAsync(100);
    expect(done).toEqual(['a']);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(done).toEqual(['a']);
  });
  it('waits a day where a timer could not hold the pause, and does not spin', async () => {
    const { queue: keys, done } = queue(fine);
    keys.add('a', 2 ** 40);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(done).toEqual([]);
  });
  it('never works on one key twice at once, and comes back for what changed meanwhile', async () => {
    const first = Promise.withResolvers<void>();
    let atOnce = 0;
    const { queue: keys, done } = queue(async () => {
      atOnce += 1;
      expect(atOnce).toBe(1);
      await first.promise;
      atOnce -= 1;
    });
    keys.add('a', 0);
    await vi.advanceTimersByTimeAsync(0);
    keys.add('a', 0);
    keys.add('a', 0);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(done).toEqual(['a']);
    first.resolve();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(done).toEqual(['a', 'a']);
  });
  it('works on no more keys at once than it has workers', async () => {
    const open: PromiseWithResolvers<void>[] = [];
    const { queue: keys } = queue(
      () => {
        const gate = Promise.withResolvers<void>();
        open.push(gate);
        return gate.promise;
      },
      { workers: 2 },
    );
    for (const key of ['a', 'b', 'c']) keys.add(key, 0);
    await vi.advanceTimersByTimeAsync(0);
    expect([open.length, keys.depth]).toEqual([2, 3]);
    open[0]?.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(open.length).toBe(3);
  });
  it('keeps nothing of a key that is done', async () => {
    const { queue: keys } = queue(fine);
    for (let index = 0; index < 1_000; index++) keys.add(`key-${index}`, 0);
    await vi.advanceTimersByTimeAsync(0);
    expect([keys.size, keys.depth]).toEqual([0, 0]);
  });
});

describe('a key that fails', () => {
  it('comes again after growing pauses, up to a minute', async () => {
    const { queue: keys, pauses } = queue(fails);
    keys.add('a', 0);
    await vi.advanceTimersByTimeAsync(300_000);
    expect(pauses.slice(0, 8)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  });
  it('spreads its pauses', async () => {
    const { queue: keys, pauses } = queue(fails, { random: () => 0 });
    keys.add('a', 0);
    await vi.advanceTimersByTimeAsync(0);
    expect(pauses).toEqual([500]);
  });
  it('blocks no other', async () => {
    const { queue: keys, done } = queue((key) => (key === 'bad' ? fails() : fine()), { workers: 1 });
    keys.add('bad', 0);
    keys.add('good', 0);
    await vi.advanceTimersByTimeAsync(0);
    expect(done).toEqual(['bad', 'good']);
  });
  it('starts counting anew when it succeeded', async () => {
    const results = [fails, fails, fine, fails];
    const { queue: keys, pauses } = queue(() => (results.shift() ?? fine)());
    keys.add('a', 0);
    await vi.advanceTimersByTimeAsync(10_000);
    keys.add('a', 0);
    await vi.advanceTimersByTimeAsync(0);
    expect(pauses).toEqual([1_000, 2_000, 1_000]);
  });
  it('is brought forward by a change', async () => {
    const { queue: keys, done } = queue(fails);
    keys.add('a', 0);
    await vi.advanceTimersByTimeAsync(31_000);
    const before = done.length;
    keys.add('a', 0);
    await vi.advanceTimersByTimeAsync(4_000);
    expect(done.length).toBe(before + 1);
  });
  it('does not spin when its own work stirs it', async () => {
    const keys: { add?: (key: string) => void } = {};
    const made = queue(() => {
      keys.add?.('a');
      return fails();
    });
    keys.add = (key) => {
      made.queue.add(key);
      setTimeout(() => made.queue.add(key), 10);
    };
    made.queue.add('a', 0);
    await vi.advanceTimersByTimeAsync(300_000);
    expect(made.done.length).toBeLessThan(60);
  });
  it('waits as long as an overloaded server said, also when it changes', async () => {
    const { queue: keys, done } = queue(() =>
      Promise.reject(new KubeError(429, 'TooManyRequests', 'slow down', 7_000)),
    );
    keys.add('a', 0);
    await vi.advanceTimersByTimeAsync(100);
    keys.add('a', 0);
    await vi.advanceTimersByTimeAsync(6_800);
    expect(done).toEqual(['a']);
    await vi.advanceTimersByTimeAsync(200);
    expect(done).toEqual(['a', 'a']);
  });
});

describe('a queue that is closed', () => {
  it('finishes what is under way and begins nothing more', async () => {
    const gate = Promise.withResolvers<void>();
    const { queue: keys, done } = queue(() => gate.promise);
    keys.add('a', 0);
    await vi.advanceTimersByTimeAsync(0);
    keys.add('b', 1);
    const closed = vi.fn();
    const closing = keys.close().then(closed);
    keys.add('c', 0);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(closed).not.toHaveBeenCalled();
    gate.resolve();
    await closing;
    expect(done).toEqual(['a']);
  });
});
