/** Runs a piece of work as soon as the limit allows it. */
export type Semaphore = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Limits how many calls run at the same time. The others wait in the order of their arrival.
 *
 * @example
 *     const limit = semaphore(2);
 *     await Promise.all([1, 2, 3].map((one) => limit(async () => one * 2))); // [2, 4, 6]
 */
export function semaphore(max: number): Semaphore {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= max) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      // The permit goes to the next caller directly: a new caller cannot take it first.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

/** A semaphore of one: the calls run one after the other, in the order of their arrival. */
export const mutex = (): Semaphore => semaphore(1);

/** One mutex for each name. A name that no caller uses takes no memory. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<void>>();

  /** Resolves when the caller has the mutex. The caller must call the result, also after a failure, to release it. */
  async acquire(name: string): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = this.#last.get(name);
    this.#last.set(name, promise);
    await before;
    return () => {
      if (this.#last.get(name) === promise) this.#last.delete(name);
      resolve();
    };
  }
}

/**
 * Maps a list with at most `max` calls at the same time. The results have the order of the items. After a failure no call starts; the
 * promise rejects with the first failure when the running calls have ended.
 *
 * @example
 *     await mapLimit(['a', 'bc'], 16, async (text) => text.length); // [1, 2]
 */
export async function mapLimit<Item, Result>(
  items: readonly Item[],
  max: number,
  map: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  await forEachLimit(items.entries(), max, async ([at, item]) => {
    results[at] = await map(item);
  });
  return results;
}

/**
 * Calls `work` for each item, with at most `max` calls at the same time, and takes an item from the source only when a call can start.
 * After a failure it takes no more items; the promise rejects with the first failure when the running calls have ended.
 */
export async function forEachLimit<Item>(
  items: AsyncIterable<Item> | Iterable<Item>,
  max: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  const failures: unknown[] = [];
  const worker = async (): Promise<void> => {
    while (failures.length === 0) {
      const next = await iterator.next();
      if (next.done === true || failures.length > 0) return;
      await work(next.value);
    }
  };
  await Promise.all(Array.from({ length: max }, () => worker().catch((error: unknown) => void failures.push(error))));
  if (failures.length > 0) {
    await iterator.return?.();
    throw failures[0];
  }
}

/** Maps a stream with at most `max` calls at the same time. The results have the order of the items. */
export async function* mapStream<Item, Result>(
  items: AsyncIterable<Item>,
  max: number,
  map: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const pending: Promise<Result>[] = [];
  try {
    for await (const item of items) {
      const result = map(item);
      // The failure surfaces when its turn comes. Until then Node must not count it as unhandled.
      result.catch(() => undefined);
      pending.push(result);
      const first = pending.length < max ? undefined : pending.shift();
      if (first !== undefined) yield await first;
    }
    for (let first = pending.shift(); first !== undefined; first = pending.shift()) yield await first;
  } finally {
    await Promise.allSettled(pending);
  }
}
