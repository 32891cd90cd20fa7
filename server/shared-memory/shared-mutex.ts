import { crc32 } from 'node:zlib';

const CELLS = 256;
const FREE = 0;

/** Makes the memory that the threads share. */
export function sharedMutexMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT);
}

interface SharedMutexOptions {
  readonly memory?: SharedArrayBuffer;
  /** The time in milliseconds without progress after which another thread takes the lock. */
  readonly graceMs?: number;
  /** Replaces the wait until a cell no longer has the value that was seen. */
  readonly waitForChange?: WaitForChange;
}

type WaitForChange = (
  cells: Int32Array,
  cell: number,
  seen: number,
  ms: number,
) => Promise<'ok' | 'not-equal' | 'timed-out'>;

const atomicWait: WaitForChange = async (cells, cell, seen, ms) => Atomics.waitAsync(cells, cell, seen, ms).value;

/**
 * Makes the threads of a process do the same work one after the other, so that the second one finds the result of the first. It saves work
 * and protects nothing: a holder without progress during the grace period, because its thread died or its disk hangs, loses the lock.
 *
 * `worker_threads.locks` is not used: in Node 26.10 the next waiter waits for ever when the thread of the holder ends.
 */
export class SharedMutex {
  /** A cell for each group of names. It is 0 if free, and otherwise a number that grows with the progress of the holder. */
  readonly #cells: Int32Array;
  readonly #graceMs: number;
  readonly #waitForChange: WaitForChange;

  constructor({ memory = sharedMutexMemory(), graceMs = 10_000, waitForChange = atomicWait }: SharedMutexOptions = {}) {
    this.#cells = new Int32Array(memory);
    this.#graceMs = graceMs;
    this.#waitForChange = waitForChange;
  }

  /** Names that share a cell wait for each other. The work must call `progress` at least once in the grace period. */
  async run<T>(name: string, work: (progress: () => void) => Promise<T>): Promise<T> {
    const cell = crc32(name) % CELLS;
    await this.#claim(cell);
    try {
      return await work(() => Atomics.add(this.#cells, cell, 1));
    } finally {
      Atomics.store(this.#cells, cell, FREE);
      Atomics.notify(this.#cells, cell, 1);
    }
  }

  async #claim(cell: number): Promise<void> {
    for (;;) {
      const seen = Atomics.compareExchange(this.#cells, cell, FREE, 1);
      if (seen === FREE) return;
      const isStale = (await this.#waitForChange(this.#cells, cell, seen, this.#graceMs)) === 'timed-out';
      if (isStale && Atomics.compareExchange(this.#cells, cell, seen, seen + 1) === seen) return;
    }
  }
}
