import { describe, expect, it } from 'vitest';
import { forEachLimit, KeyedMutex, mapLimit, mapStream, mutex, semaphore } from './concurrency.ts';

const turn = () => new Promise(setImmediate);

/** Counts the calls that run at the same time. */
function counted() {
  let running = 0;
  const counter = {
    max: 0,
    work: async (): Promise<void> => {
      running += 1;
      counter.max = Math.max(counter.max, running);
      await turn();
      running -= 1;
    },
  };
  return counter;
}

/** Yields 0 to 99, and counts the taken ones. */
function source() {
  const state = { taken: 0, closed: false };
  function* items(): Generator<number> {
    try {
      for (; state.taken < 100; state.taken += 1) yield state.taken;
    } finally {
      state.closed = true;
    }
  }
  return { state, items };
}

async function failAtFive(item: number): Promise<void> {
  await turn();
  if (item === 5) throw new Error('five');
}

async function* broken(): AsyncGenerator<number> {
  yield 1;
  throw new Error('source');
}

async function* turns(): AsyncGenerator<number> {
  yield* [3, 1, 2];
}

describe('a semaphore', () => {
  it('runs no more calls at the same time than its limit', async () => {
    const limit = semaphore(2);
    const counter = counted();
    await Promise.all(Array.from({ length: 10 }, () => limit(counter.work)));
    expect(counter.max).toBe(2);
  });

  it('runs waiting calls in the order of their arrival', async () => {
    const limit = mutex();
    const seen: number[] = [];
    await Promise.all([1, 2, 3].map((number) => limit(async () => void seen.push(number))));
    expect(seen).toEqual([1, 2, 3]);
  });

  it('gives the permit back after a failure', async () => {
    const limit = mutex();
    await expect(limit(() => Promise.reject(new Error('x')))).rejects.toThrow('x');
    expect(await limit(async () => 'y')).toBe('y');
  });
});

describe('a keyed mutex', () => {
  it('makes callers of one name wait, and no others', async () => {
    const locks = new KeyedMutex();
    const release = await locks.acquire('a');
    const seen: string[] = [];
    const second = (async () => {
      const end = await locks.acquire('a');
      seen.push('second');
      end();
    })();
    (await locks.acquire('b'))();
    seen.push('other');
    release();
    await second;
    expect(seen).toEqual(['other', 'second']);
  });
});

describe('mapLimit', () => {
  it('gives the results in the order of the items', async () => {
    const delays = [3, 0, 2, 1];
    const results = await mapLimit(delays, 2, async (count) => {
      for (let left = count; left > 0; left -= 1) await turn();
      return count;
    });
    expect(results).toEqual(delays);
  });

  it('runs no more calls at the same time than its limit', async () => {
    const counter = counted();
    await mapLimit([1, 2, 3, 4, 5], 3, counter.work);
    expect(counter.max).toBe(3);
  });
});

describe('forEachLimit', () => {
  it('takes an item only when a call can start, and closes the source after a failure', async () => {
    const { state, items } = source();
    await expect(forEachLimit(items(), 3, failAtFive)).rejects.toThrow('five');
    expect(state.taken).toBeLessThan(12);
    expect(state.closed).toBe(true);
  });

  it('ends the running calls before it rejects', async () => {
    let running = 0;
    const work = async (item: number) => {
      if (item === 0) throw new Error('first');
      running += 1;
      await turn();
      running -= 1;
    };
    await expect(forEachLimit([0, 1, 2], 3, work)).rejects.toThrow('first');
    expect(running).toBe(0);
  });

  it('rejects with the failure of the source', async () => {
    await expect(forEachLimit(broken(), 2, turn as () => Promise<void>)).rejects.toThrow('source');
  });
});

describe('mapStream', () => {
  it('gives the results in the order of the items', async () => {
    const results = mapStream(turns(), 2, async (count) => {
      for (let left = count; left > 0; left -= 1) await turn();
      return count;
    });
    expect(await Array.fromAsync(results)).toEqual([3, 1, 2]);
  });

  it('ends the running calls before a failure leaves it', async () => {
    let ended = 0;
    const results = mapStream(turns(), 3, async (item) => {
      if (item === 3) throw new Error('three');
      await turn();
      ended += 1;
    });
    await expect(Array.fromAsync(results)).rejects.toThrow('three');
    expect(ended).toBe(2);
  });
});
