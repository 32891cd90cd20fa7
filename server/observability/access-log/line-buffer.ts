/** Bytes of the first chunk and of the largest one, so that many buckets with few lines need little memory. */
const FIRST_CHUNK = 4 * 1024;
const MAX_CHUNK = 256 * 1024;

/**
 * Lines that wait for delivery. They are bytes outside of V8's heap: thousands of strings that live for a minute cost the garbage collector
 * more than it costs to write them.
 */
export class LineBuffer {
  #chunks: Buffer[] = [];
  #last = Buffer.alloc(0);
  #used = 0;
  #size = 0;

  /** Bytes of the lines. */
  get size(): number {
    return this.#size;
  }

  /** Adds a line of ASCII. */
  append(line: string): void {
    if (this.#used + line.length > this.#last.length) this.#grow(line.length);
    this.#used += this.#last.write(line, this.#used, 'latin1');
    this.#size += line.length;
  }

  /** Adds the lines of another buffer, which is not used any more. */
  appendAll(other: LineBuffer): void {
    this.#endChunk();
    other.#endChunk();
    for (const chunk of other.#chunks) this.#chunks.push(chunk);
    this.#size += other.#size;
  }

  /** Returns a copy of all lines. */
  toBytes(): Buffer {
    this.#endChunk();
    return Buffer.concat(this.#chunks, this.#size);
  }

  /** Later lines use the rest of the memory. */
  #endChunk(): void {
    if (this.#used > 0) this.#chunks.push(this.#last.subarray(0, this.#used));
    this.#last = this.#last.subarray(this.#used);
    this.#used = 0;
  }

  #grow(needed: number): void {
    this.#endChunk();
    const size = Math.min(MAX_CHUNK, Math.max(FIRST_CHUNK, this.#size));
    this.#last = Buffer.allocUnsafeSlow(Math.max(size, needed));
  }
}
