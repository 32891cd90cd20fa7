/** Numbers that look random and come again from the same seed (mulberry32). */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** From `least` to `most`, both included. */
  between(least: number, max: number): number {
    return least + Math.floor(this.#next() * (max - least + 1));
  }

  bytes(size: number): Buffer {
    const bytes = Buffer.allocUnsafe(size);
    // Different in every block, so that no part of one version is taken for the same part of another.
    for (let at = 0; at < size; at += 4) {
      const word = (this.#next() * 4_294_967_296) >>> 0;
      for (let byte = 0; byte < 4 && at + byte < size; byte += 1) bytes[at + byte] = (word >>> (8 * byte)) & 0xff;
    }
    return bytes;
  }

  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
}
