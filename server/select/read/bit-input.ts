import { S3Error } from '../../../protocol/s3/s3-error.ts';

/** The longest compressed block of bzip2: 18,002 groups of 50 symbols of 20 bits, and its tables. */
const maxBlockBytes = 2_560 * 1_024;

export function invalid(): S3Error {
  return new S3Error('InvalidCompressionFormat', 'BZIP2 is not applicable to the queried object.');
}

/** Reads bits, the highest first. It reads zeros after the end: `isOver` then says so. */
export class BitInput {
  readonly #source: AsyncIterator<Buffer>;
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  #held = 0;
  #count = 0;
  #ended = false;

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Reads so much that a block is complete. */
  async fill(): Promise<void> {
    const rest = this.#bytes.length - this.#at;
    if (this.#ended || rest >= maxBlockBytes) return;
    const chunks = [this.#bytes.subarray(this.#at)];
    let size = rest;
    while (size < 2 * maxBlockBytes) {
      const next = await this.#source.next();
      if (next.done === true) {
        this.#ended = true;
        break;
      }
      chunks.push(next.value);
      size += next.value.length;
    }
    this.#bytes = Buffer.concat(chunks);
    this.#at = 0;
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }

  /** No byte is left. */
  get isEnd(): boolean {
    return this.#at >= this.#bytes.length && this.#count < 8;
  }

  /** More bits were read than there are. */
  get isOver(): boolean {
    return this.#at > this.#bytes.length;
  }

  /** Reads up to 32 bits. */
  bits(count: number): number {
    if (count > 24) return this.bits(count - 16) * 0x10000 + this.bits(16);
    while (this.#count < count) {
      this.#held = ((this.#held << 8) | (this.#bytes[this.#at] ?? 0)) >>> 0;
      this.#at += 1;
      this.#count += 8;
    }
    this.#count -= count;
    const value = this.#held >>> this.#count;
    this.#held &= (1 << this.#count) - 1;
    return value;
  }

  /** Skips to the next byte. */
  align(): void {
    this.#count = 0;
    this.#held = 0;
  }
}
