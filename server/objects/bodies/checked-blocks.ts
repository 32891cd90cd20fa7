import { bodyBuffers } from '../../streams/body-memory.ts';
import type { Chunks } from '../../streams/chunks.ts';
import { type BlockSums, matchesBlock } from '../checksums/block-sums.ts';

interface Range {
  readonly start: number;
  readonly end: number;
}

interface CheckedBlocksOptions {
  /** The range of the body that the caller reads. */
  readonly range: Range;
  /** The size of the whole body. */
  readonly size: number;
  /** Called before the first block is read. */
  readonly sums: () => Promise<BlockSums>;
  /** Reads stored bytes: whole blocks. Chunks should end where blocks end. */
  readonly read: (range: Range, block: number) => Chunks;
  /** Makes the error for a block that is not what was stored. */
  readonly damage: (what: string) => Error;
}

/**
 * Chunks of a body that is not encrypted. Each block is read whole and checked before any of its bytes is returned, also where the
 * range has only some of them. A block that comes in several chunks is joined in one buffer, which is used again.
 */
export class CheckedBlocks implements Chunks {
  readonly ownership = 'lent';
  readonly #options: CheckedBlocksOptions;
  #sums: BlockSums | undefined;
  #source: Chunks | undefined;
  /** The offset of the next bytes to be checked: the first byte of a block. */
  #position = 0;
  /** The end of the last block in the range. */
  #end = 0;
  /** The bytes of later blocks in the last chunk. */
  #rest: Buffer | undefined;
  #joined: Buffer | undefined;
  #closed = false;

  constructor(options: CheckedBlocksOptions) {
    this.#options = options;
  }

  async next(): Promise<Buffer | undefined> {
    if (this.#closed) return undefined;
    const { range, sums: readSums } = this.#options;
    const sums = (this.#sums ??= await readSums());
    const source = (this.#source ??= this.#open(sums));
    if (this.#position >= this.#end) return undefined;
    const start = this.#position;
    const blocks = await this.#nextBlocks(source, sums.block);
    for (let at = 0; at < blocks.length; at += sums.block) {
      const number = (start + at) / sums.block;
      if (!matchesBlock(blocks.subarray(at, at + sums.block), number, sums)) {
        throw this.#options.damage(`block ${number} of ${sums.block} bytes does not have its checksum`);
      }
    }
    this.#position += blocks.length;
    return blocks.subarray(Math.max(range.start - start, 0), Math.min(range.end - start, blocks.length));
  }

  async close(): Promise<void> {
    this.#closed = true;
    const joined = this.#joined;
    this.#joined = undefined;
    if (joined !== undefined) bodyBuffers.giveBack(joined);
    await this.#source?.close();
  }

  #open({ block }: BlockSums): Chunks {
    const { range, size, read } = this.#options;
    this.#position = range.start - (range.start % block);
    this.#end = Math.min(Math.ceil(range.end / block) * block, size);
    return read({ start: this.#position, end: this.#end }, block);
  }

  /** Returns one or more whole blocks; the last block may be shorter. */
  async #nextBlocks(source: Chunks, block: number): Promise<Buffer> {
    const bytes = await this.#more(source);
    const left = this.#end - this.#position;
    if (bytes.length > left) throw this.#options.damage('it has more bytes than were written');
    const whole = bytes.length === left ? left : bytes.length - (bytes.length % block);
    if (whole > 0) return this.#cut(bytes, whole);
    const wanted = Math.min(block, left);
    const joined = this.#bufferOf(block);
    let filled = bytes.copy(joined);
    while (filled < wanted) {
      const next = await this.#more(source);
      filled += this.#cut(next, Math.min(next.length, wanted - filled)).copy(joined, filled);
    }
    return joined.subarray(0, wanted);
  }

  async #more(source: Chunks): Promise<Buffer> {
    const rest = this.#rest;
    this.#rest = undefined;
    const bytes = rest ?? (await source.next());
    if (bytes === undefined) throw this.#options.damage('it ends before the bytes that were written');
    return bytes;
  }

  #cut(bytes: Buffer, length: number): Buffer {
    if (length === bytes.length) return bytes;
    this.#rest = bytes.subarray(length);
    return bytes.subarray(0, length);
  }

  #bufferOf(block: number): Buffer {
    if (this.#joined !== undefined) return this.#joined;
    const buffer = bodyBuffers.take(block);
    if (buffer.length >= block) return (this.#joined = buffer);
    bodyBuffers.giveBack(buffer);
    return Buffer.allocUnsafe(block);
  }
}
