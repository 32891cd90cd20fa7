import { seed } from '../support/seed.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { type Fault } from './io-faults.ts';
import { describeFault } from './sweep.ts';

/** The count of the faults that are tried; none without a number. */
const count = Number(process.env['COFFER_SWEEP'] ?? 0);
/** `3/20`: the third of twenty parts of all faults, which together are each fault once. `.ci/soak sweep` tries one after the other. */
const slice = process.env['COFFER_SWEEP_SLICE'];
export const isSwept = count > 0 || slice !== undefined;
/** Names the run in the title of its tests. */
export const runName = slice === undefined ? `seed ${seed}` : `part ${slice}, seed ${seed}`;

/** Returns the faults of this run in a random order. A test whose faults cost more than those of others tries one of `share` of their count. */
export function faultsOfRun(all: readonly Fault[], share = 1): Fault[] {
  const random = new SeededRandom(seed);
  const mixed = (faults: readonly Fault[]) =>
    faults
      .map((fault) => ({ fault, order: random.between(0, 2 ** 30) }))
      .toSorted((left, right) => left.order - right.order)
      .map(({ fault }) => fault);
  if (slice === undefined) return mixed(all).slice(0, Math.ceil(count / share));
  return mixed(partOf(all, slice));
}

/** Returns the elements of a part such as `3/20`. Neighbours stay together: the errors of one call, most of which are skipped where it is not made. */
export function partOf<T>(all: readonly T[], part: string): T[] {
  const [number = Number.NaN, parts = Number.NaN] = part.split('/').map(Number);
  if (!(Number.isInteger(number) && Number.isInteger(parts) && number >= 1 && number <= parts))
    throw new Error(`COFFER_SWEEP_SLICE is "${part}": write NUMBER/PARTS, for instance 3/20`);
  const [begin, end] = [number - 1, number].map((at) => Math.round((at * all.length) / parts));
  return all.slice(begin, end);
}

/** The runs without a hit after which a call counts as one that a program does not make. */
const MISSES = 2;

/** Counts the faults of a program that makes its calls in about the same order each time. */
export class MetFaults {
  readonly #misses = new Map<string, number>();
  #tried = 0;
  #met = 0;
  #skipped = 0;

  /** Returns true where runs without a hit have shown that the program makes no such call. Another error would meet none either. */
  skips(fault: Fault, kind = ''): boolean {
    const skips = (this.#misses.get(keyOf(fault, kind)) ?? 0) >= MISSES;
    if (skips) this.#skipped += 1;
    return skips;
  }

  ran(fault: Fault, hits: number, kind = ''): void {
    this.#tried += 1;
    const key = keyOf(fault, kind);
    if (hits > 0) {
      this.#met += 1;
      this.#misses.set(key, Number.NEGATIVE_INFINITY);
    } else this.#misses.set(key, (this.#misses.get(key) ?? 0) + 1);
  }

  summary(): string {
    return `${this.#met} of ${this.#tried} faults met a call, and ${this.#skipped} are of calls that are not made`;
  }
}

/** All errors of a call in a place meet the same calls, for those that fail one of two find fewer. */
const keyOf = (fault: Fault, kind: string) => `${kind} ${fault.every} ${describeFault({ ...fault, error: 'EIO' })}`;
