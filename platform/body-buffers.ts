import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

interface BufferPoolSizes {
  readonly large: number;
  /** Large buffers lent at a time; as many are kept. */
  readonly mostLarge: number;
  readonly small: number;
  /** Small buffers that are kept; they are lent without end. */
  readonly keptSmall: number;
}

/**
 * Buffers that are filled again and again: their pages are there and, lent last in first out, still in the processor's cache. A fresh
 * buffer costs a page fault for each 4 KiB (docs/decisions/0014-large-bodies.md).
 *
 * Nobody waits for one, since a slow client may hold what he has for hours: when the large ones are out, a small one is lent.
 */
export class BufferPool {
  readonly #sizes: BufferPoolSizes;
  readonly #large: Buffer[] = [];
  readonly #small: Buffer[] = [];
  readonly #lent = new Set<Buffer>();
  #largeLent = 0;

  constructor(sizes: BufferPoolSizes) {
    this.#sizes = sizes;
  }

  /** How many buffers are lent now. */
  get lent(): number {
    return this.#lent.size;
  }

  /** A buffer for up to so many bytes. It may be shorter or longer, and holds what was in it last. */
  take(bytes: number): Buffer {
    const { large, mostLarge, small } = this.#sizes;
    const isLarge = bytes > small && this.#largeLent < mostLarge;
    if (isLarge) this.#largeLent += 1;
    const buffer = (isLarge ? this.#large : this.#small).pop() ?? Buffer.allocUnsafeSlow(isLarge ? large : small);
    this.#lent.add(buffer);
    return buffer;
  }

  /** To be called when nobody reads or writes it any more. */
  giveBack(buffer: Buffer): void {
    // Twice in the pool, it would be lent to two at once, and one object's bytes be given for another's.
    if (!this.#lent.delete(buffer))
      throw new Error(`a buffer of ${buffer.length} bytes is given back that is not lent`);
    if (buffer.length === this.#sizes.large) {
      this.#largeLent -= 1;
      this.#large.push(buffer);
    } else if (this.#small.length < this.#sizes.keptSmall) this.#small.push(buffer);
  }
}

const KiB = 1024;

/** Room for the tags of encrypted packages of 64 KiB, so that reads can end with a package. */
const TAGS = 4 * KiB;

/**
 * What this thread reads bodies into that go out at once. 512 KiB stay in a processor's cache between the read, the check and the socket;
 * of the sizes tried, reads of it took the least processor time. A small buffer
 * holds a block of a plain body, which must be whole to be checked. A hundred slow clients hold 29 MiB: 8 large buffers, else small ones.
 */
export const bodyBuffers = new BufferPool({
  large: 512 * KiB + TAGS,
  mostLarge: 8,
  small: 256 * KiB + TAGS,
  keptSmall: 16,
});

type Collect = (options: { readonly type: 'minor' }) => void;

/** Bytes of bodies that pass through a thread between two collections: with 8 MiB uploads of 1 GiB peaked at 296 and 320 MiB, with 2 at 260. */
const BETWEEN = 2 * KiB * KiB;

let collect: Collect | undefined;
let passed = 0;

/**
 * Told of each piece of a body that passes through this thread in a buffer of its own; now and then collects the buffers that nothing
 * refers to any more.
 *
 * They lie outside V8's heap, which lets many of them go by, in each thread, before it looks. They die young, so a minor collection
 * finds them. Without it the server passed 300 MiB: docs/decisions/0004-memory-of-bodies.md.
 */
export function bodyBytesPassed(bytes: number): void {
  passed += bytes;
  if (passed < BETWEEN) return;
  passed = 0;
  collect ??= exposeCollector();
  collect({ type: 'minor' });
}

function exposeCollector(): Collect {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as Collect;
}
