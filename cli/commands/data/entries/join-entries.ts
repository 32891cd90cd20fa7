import type { Entry } from './entry.ts';

/** A name that is in the first place, the second, or both. */
export interface Pair {
  readonly name: string;
  readonly first?: Entry;
  readonly second?: Entry;
}

/** Joins two listings in the order of their names. It holds one entry of each. */
export async function* joinEntries(
  first: AsyncIterable<Entry>,
  second: AsyncIterable<Entry>,
): AsyncGenerator<Pair, void, undefined> {
  const [ones, others] = [first[Symbol.asyncIterator](), second[Symbol.asyncIterator]()];
  try {
    let [one, other] = await Promise.all([ones.next(), others.next()]);
    while (one.done !== true || other.done !== true) {
      const order = one.done === true ? 1 : other.done === true ? -1 : compareNames(one.value.name, other.value.name);
      const left = order <= 0 && one.done !== true ? one.value : undefined;
      const right = order >= 0 && other.done !== true ? other.value : undefined;
      yield { name: left?.name ?? right?.name ?? '', ...(left && { first: left }), ...(right && { second: right }) };
      [one, other] = await Promise.all([left ? ones.next() : one, right ? others.next() : other]);
    }
  } finally {
    await Promise.all([ones.return?.(), others.return?.()]);
  }
}

const surrogate = /[\ud800-\udfff]/;

/** Compares as the bytes of UTF-8 do, which is the order of keys. The order of JavaScript differs for surrogates only. */
export function compareNames(one: string, other: string): number {
  if (one === other) return 0;
  if (surrogate.test(one) || surrogate.test(other)) return Buffer.compare(Buffer.from(one), Buffer.from(other));
  return one < other ? -1 : 1;
}
