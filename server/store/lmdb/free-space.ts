import { statfs } from 'node:fs/promises';
import { GROUP_SPACE, isThereRoomIn } from './errors.ts';

export interface Space {
  readonly free: number;
  readonly total: number;
}

/** Milliseconds for which a measurement is used. */
const KNOWN_MS = 100;

/** Measures the free space of a disk beside the calls that ask for it: a file server may be slow to tell, and the thread must not wait. */
export class FreeSpace {
  readonly #measure: () => Promise<Space>;
  readonly #now: () => number;
  #known: Space | undefined;
  #measured = -Infinity;
  #measuring: Promise<Space | undefined> | undefined;

  constructor(folder: string, measure = () => spaceOf(folder), now = () => performance.now()) {
    this.#measure = measure;
    this.#now = now;
  }

  /** Returns the last measurement, and starts another one if it is old. Undefined before the first one, and for a disk that does not tell. */
  last(): Space | undefined {
    if (this.#now() - this.#measured >= KNOWN_MS) void this.now();
    return this.#known;
  }

  /** Measures. Never rejects. */
  now(): Promise<Space | undefined> {
    this.#measuring ??= this.#run().finally(() => (this.#measuring = undefined));
    return this.#measuring;
  }

  async #run(): Promise<Space | undefined> {
    try {
      this.#known = await this.#measure();
    } catch {
      this.#known = undefined;
    }
    this.#measured = this.#now();
    return this.#known;
  }
}

async function spaceOf(folder: string): Promise<Space> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { free: bavail * bsize, total: blocks * bsize };
}

/**
 * Decides if a failed write met a full disk. Other threads and the removal of blobs free space at any time, so the space that is there
 * after the failure decides nothing: a disk that had too little for a transaction before it began, or right after it failed, was full. A disk
 * that does not report its space counts as one with space.
 */
export class DiskRoom {
  readonly #folder: string;
  readonly #space: Pick<FreeSpace, 'last' | 'now'>;
  #before = Infinity;

  constructor(folder: string, space: Pick<FreeSpace, 'last' | 'now'>) {
    this.#folder = folder;
    this.#space = space;
  }

  /** The caller calls this before each transaction. */
  look(): void {
    this.#before = this.#space.last()?.free ?? Infinity;
  }

  /** Resolves to true if the disk had space for the transaction. */
  async wasThere(): Promise<boolean> {
    const after = (await this.#space.now())?.free ?? Infinity;
    if (Math.min(this.#before, after) < GROUP_SPACE) return false;
    return isThereRoomIn(this.#folder);
  }
}
