import { describe, expect, it } from 'vitest';
import { PageStore } from './page-store.ts';

const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

/** A list of `total` numbers in pages of ten. */
function numbers(total: number) {
  const asked: string[] = [];
  const store = new PageStore<number>((cursor) => {
    asked.push(cursor);
    const from = Number(cursor);
    const rows = Array.from({ length: Math.min(10, total - from) }, (_, index) => from + index);
    return Promise.resolve({ rows, next: from + 10 < total ? String(from + 10) : undefined });
  });
  return { store, asked };
}

async function loadAll(store: PageStore<number>) {
  while (!store.complete) {
    store.ensure(store.count, store.count);
    await settled();
  }
}

describe('PageStore', () => {
  it('loads the first page, and the next when the end comes near', async () => {
    const { store, asked } = numbers(200);
    store.ensure(0, 0);
    await settled();
    expect([store.count, store.row(9), store.row(10), store.complete]).toEqual([10, 9, undefined, false]);
    store.ensure(0, 9);
    await settled();
    expect(asked).toEqual(['', '10']);
  });

  it('waits when it is asked twice before the first page came', async () => {
    const { promise, resolve } = Promise.withResolvers<{ rows: number[] }>();
    let asked = 0;
    const store = new PageStore<number>(() => {
      asked += 1;
      return promise;
    });
    store.ensure(0, 0);
    store.ensure(0, 0);
    // A timer would never come while promises follow each other without an end.
    await settled();
    resolve({ rows: [] });
    await settled();
    expect([asked, store.complete]).toEqual([1, true]);
  });

  it('loads a page once at a time', async () => {
    const { store, asked } = numbers(200);
    store.ensure(0, 0);
    store.ensure(0, 0);
    await settled();
    expect(asked).toHaveLength(1);
  });

  it('drops pages that were not looked at, and loads them again', async () => {
    const { store } = numbers(1_000);
    await loadAll(store);
    expect(store.count).toBe(1_000);
    expect(store.rows()).toHaveLength(200);
    expect(store.row(5)).toBeUndefined();
    store.ensure(0, 20);
    await settled();
    expect([store.row(5), store.row(15)]).toEqual([5, 15]);
    expect(store.rows().length).toBeLessThanOrEqual(210);
  });

  it('reports how far it is loaded, and what was looked at', async () => {
    const { store } = numbers(25);
    store.ensure(0, 0);
    await settled();
    expect([store.reaches(9), store.reaches(10), store.reach]).toEqual([true, false, 0]);
    store.ensure(3, 9);
    await settled();
    store.ensure(12, 18);
    await settled();
    // A list that has ended is loaded as far as it can be.
    expect([store.complete, store.reaches(100), store.reach]).toEqual([true, true, 18]);
  });

  it('asks for nothing after it was closed', async () => {
    const { store, asked } = numbers(200);
    store.ensure(0, 0);
    await settled();
    store.close();
    store.ensure(0, 9);
    await settled();
    expect([asked.length, store.row(9), store.error]).toEqual([1, 9, undefined]);
  });

  it('goes on behind pages without rows', async () => {
    const store = new PageStore<number>((cursor) =>
      Promise.resolve(cursor === 'c' ? { rows: [1] } : { rows: [], next: cursor === '' ? 'b' : 'c' }),
    );
    store.ensure(0, 0);
    await settled();
    expect([store.count, store.complete]).toEqual([1, true]);
  });

  it('asks for nothing more when it is closed before its first page came', async () => {
    let asked = 0;
    const store = new PageStore<number>((_cursor, signal) => {
      asked += 1;
      // Endless calls would keep this test, and a tab of a browser, from ever doing anything else.
      if (asked > 100) return Promise.resolve({ rows: [1] });
      return signal.aborted
        ? Promise.reject(new Error('aborted'))
        : Promise.resolve()
            .then(() => signal.throwIfAborted())
            .then(() => ({ rows: [] }));
    });
    store.ensure(0, 0);
    store.close();
    await settled();
    expect(asked).toBe(1);
  });

  it('stops at an error until it is asked to retry', async () => {
    let fails = true;
    const store = new PageStore<number>(() =>
      fails ? Promise.reject(new Error('no')) : Promise.resolve({ rows: [1] }),
    );
    store.ensure(0, 0);
    await settled();
    store.ensure(0, 0);
    expect(store.error?.message).toBe('no');
    fails = false;
    store.retry();
    await settled();
    expect([store.error, store.row(0)]).toEqual([undefined, 1]);
  });
});
