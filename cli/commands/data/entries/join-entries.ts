import type { Entry } from './entry.ts';

/** A name that is in the first place, the second, or both. */
export interface Pair {
  readonly name: string;
  readonly first?: Entry;
  readonly second?: Entry;
}

/** The pages of a listing. It returns nothing where there are none. */
export type Pages<T> = AsyncGenerator<readonly T[], void, undefined>;

/** Joins two listings in the order of their names. It holds one page of each. */
export async function* joinEntries(
  first: AsyncIterable<readonly Entry[]>,
  second: AsyncIterable<readonly Entry[]>,
): AsyncGenerator<Pair, void, undefined> {
  for await (const pair of joinPages(first, second, (one, other) => compareNames(one.name, other.name))) {
    yield { name: pair.first?.name ?? pair.second?.name ?? '', ...pair };
  }
}

/** Joins two listings that have the order of `compare`. It holds one page of each. */
export async function* joinPages<T>(
  first: AsyncIterable<readonly T[]>,
  second: AsyncIterable<readonly T[]>,
  compare: (one: T, other: T) => number,
): AsyncGenerator<{ readonly first?: T; readonly second?: T }, void, undefined> {
  const [ones, others] = [new Cursor(first), new Cursor(second)];
  try {
    for (;;) {
      if (ones.isRead || others.isRead) await Promise.all([ones.load(), others.load()]);
      const [one, other] = [ones.current, others.current];
      if (one === undefined && other === undefined) return;
      const order = one === undefined ? 1 : other === undefined ? -1 : compare(one, other);
      const left = order <= 0 ? one : undefined;
      const right = order >= 0 ? other : undefined;
      yield { ...(left !== undefined && { first: left }), ...(right !== undefined && { second: right }) };
      if (left !== undefined) ones.advance();
      if (right !== undefined) others.advance();
    }
  } finally {
    await Promise.all([ones.close(), others.close()]);
  }
}

/** A place in a listing. */
class Cursor<T> {
  readonly #pages: AsyncIterator<readonly T[]>;
  #page: readonly T[] = [];
  #at = 0;
  #ended = false;

  constructor(pages: AsyncIterable<readonly T[]>) {
    this.#pages = pages[Symbol.asyncIterator]();
  }

  /** Undefined at the end of the listing, and where the next page must be loaded. */
  get current(): T | undefined {
    return this.#page[this.#at];
  }

  /** Reports whether the page is read and another one may follow. */
  get isRead(): boolean {
    return !this.#ended && this.#at >= this.#page.length;
  }

  advance(): void {
    this.#at += 1;
  }

  async load(): Promise<void> {
    while (this.isRead) {
      const next = await this.#pages.next();
      this.#ended = next.done === true;
      this.#page = next.done === true ? [] : next.value;
      this.#at = 0;
    }
  }

  async close(): Promise<void> {
    await this.#pages.return?.();
  }
}

const surrogate = /[\ud800-\udfff]/;

/** Compares as the bytes of UTF-8 do, which is the order of keys. The order of JavaScript differs for surrogates only. */
export function compareNames(one: string, other: string): number {
  if (one === other) return 0;
  if (surrogate.test(one) || surrogate.test(other)) return Buffer.compare(Buffer.from(one), Buffer.from(other));
  return one < other ? -1 : 1;
}
