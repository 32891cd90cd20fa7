import { collectGarbage } from '../../platform/process/collect-garbage.ts';

interface BufferPoolSizes {
  readonly large: number;
  /** The maximum number of large buffers that are borrowed at a time. The pool keeps as many. */
  readonly maxLarge: number;
  readonly small: number;
  /** The number of small buffers that the pool keeps. Callers may borrow any number of them. */
  readonly keptSmall: number;
}

/**
 * A pool of buffers that are filled again and again. Their pages exist and, with last in first out, are still in the processor's cache. A
 * new buffer costs a page fault for each 4 KiB (docs/decisions/0014-large-bodies.md).
 *
 * No caller waits for a buffer, because a slow client may hold one for hours: when the large ones are in use, a caller gets a small one.
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

  /** The number of borrowed buffers. */
  get lent(): number {
    return this.#lent.size;
  }

  /** Borrows a buffer for up to `bytes` bytes. It may be shorter or longer, and holds old content. */
  take(bytes: number): Buffer {
    const { large, maxLarge, small } = this.#sizes;
    const isLarge = bytes > small && this.#largeLent < maxLarge;
    if (isLarge) this.#largeLent += 1;
    const buffer = (isLarge ? this.#large : this.#small).pop() ?? Buffer.allocUnsafeSlow(isLarge ? large : small);
    this.#lent.add(buffer);
    return buffer;
  }

  /** Returns a buffer. The caller must not read or write it afterwards. */
  giveBack(buffer: Buffer): void {
    // A buffer that is in the pool twice would go to two borrowers, and one object's bytes into the answer for another.
    if (!this.#lent.delete(buffer))
      throw new Error(`a buffer of ${buffer.length} bytes is given back that is not lent`);
    if (buffer.length === this.#sizes.large) {
      this.#largeLent -= 1;
      this.#large.push(buffer);
    } else if (this.#small.length < this.#sizes.keptSmall) this.#small.push(buffer);
  }
}

const KiB = 1024;

/** The size of the tags of encrypted packages of 64 KiB, so that reads can end with a package. */
const TAGS = 4 * KiB;

/**
 * This thread reads bodies that go out at once into these buffers. 512 KiB stay in a processor's cache between the read, the check and the
 * socket; of the sizes that were tried, this one took the least processor time. A small buffer holds a block of a plain body, which must be
 * complete to be checked. A hundred slow clients hold 29 MiB: 8 large buffers and otherwise small ones.
 */
export const bodyBuffers = new BufferPool({
  large: 512 * KiB + TAGS,
  maxLarge: 8,
  small: 256 * KiB + TAGS,
  keptSmall: 16,
});

/**
 * The bytes of bodies that pass through a thread between two collections. Uploads of 1 GiB peaked at 296 and 320 MiB with 8 MiB, and at 260
 * MiB with 2 MiB.
 */
const BETWEEN = 2 * KiB * KiB;

let passed = 0;

/**
 * Counts the chunks of bodies that pass through this thread in buffers of their own, and collects the garbage buffers from time to time.
 *
 * These buffers are outside V8's heap. V8 lets many of them accumulate in each thread before it collects. They die young, so a minor
 * collection finds them. Without it the server passed 300 MiB: docs/decisions/0004-memory-of-bodies.md.
 */
export function bodyBytesPassed(bytes: number): void {
  passed += bytes;
  if (passed < BETWEEN) return;
  passed = 0;
  collectGarbage('minor');
}

/**
 * Frees the memory of a buffer. The caller must own the whole buffer, which is empty afterwards.
 *
 * The memory is outside V8's heap. If V8 frees it later, the next buffer gets other memory that is cold in the processor's cache, and after
 * some MiB V8 marks its heap. Of 8 ms for 8 MiB deciphered, this saves 2 to 3 (docs/decisions/0027-encryption-speed.md).
 */
export function freeNow({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}

/** The kind of sender of a body. Unauthenticated senders share a small part, so that they cannot take the memory of authenticated ones. */
export type BodySender = 'known' | 'stranger';

/**
 * The maximum bytes of request bodies that are in memory as a whole (documents, forms, small objects), over all threads of the server.
 * Bodies that stream through do not count: each has a few buffers.
 */
const maxBodyMemory: Readonly<Record<BodySender, number>> = {
  known: 256 * 1024 * 1024,
  stranger: 8 * 1024 * 1024,
};

const cells = { known: 0, stranger: 1 } as const;

/** Makes the shared memory in which all threads count. */
export function sharedBodyMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
}

/** The budget for the memory of bodies, as one thread uses it. */
export class BodyMemory {
  readonly #held: Int32Array;
  readonly #max: Readonly<Record<BodySender, number>>;

  constructor(shared: SharedArrayBuffer = sharedBodyMemory(), max = maxBodyMemory) {
    this.#held = new Int32Array(shared);
    this.#max = max;
  }

  /** Reserves bytes until the caller releases them. Returns false if the budget is used up. */
  take(bytes: number, sender: BodySender): boolean {
    const before = Atomics.add(this.#held, cells[sender], bytes);
    if (before + bytes <= this.#max[sender]) return true;
    Atomics.sub(this.#held, cells[sender], bytes);
    return false;
  }

  give(bytes: number, sender: BodySender): void {
    Atomics.sub(this.#held, cells[sender], bytes);
  }

  held(sender: BodySender): number {
    return Atomics.load(this.#held, cells[sender]);
  }
}
