export interface BufferPoolSizes {
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
