/** The maximum of buckets whose requests are counted apart. */
export const maxListedBuckets = 100;

interface CreatedBucket {
  readonly name: string;
  readonly created: Date;
}

/**
 * Returns the buckets whose requests are counted apart: the oldest. It depends on the records alone, so that all threads of all servers
 * have the same list, also after a restart. A new bucket is the last of the list, so that it takes the place of no other one.
 */
export function listedBuckets(buckets: readonly CreatedBucket[]): readonly string[] {
  return buckets
    .toSorted((a, b) => a.created.getTime() - b.created.getTime() || (a.name < b.name ? -1 : 1))
    .slice(0, maxListedBuckets)
    .map(({ name }) => name);
}

/** The list of buckets for a thread. */
export interface BucketList {
  readonly names: readonly string[];
  /** The number of the last question that was asked before the list was read. */
  readonly answers: number;
}

/**
 * The count of the questions for the list, which the threads share. A thread asks where it knows no place for a bucket, and a list that
 * was read before its question answers nothing.
 */
export class BucketQuestions {
  readonly #count: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#count = new Int32Array(memory, 0, 1);
  }

  /** Returns the number of a new question. */
  ask(): number {
    return Atomics.add(this.#count, 0, 1) + 1;
  }

  /** Returns the number of the last question. */
  last(): number {
    return Atomics.load(this.#count, 0);
  }
}
