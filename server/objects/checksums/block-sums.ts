import { tagOf, Gmac } from './gmac.ts';

/** Bytes of a block of new bodies. Measured: docs/decisions/0029-stored-formats.md. */
export const BLOCK = 256 * 1024;
/** Bytes of the sum of a block: the beginning of its GMAC. */
const SUM = 8;
/** Up to so many sums are in the protection of a body; more have a record of their own. */
const MOST_INLINE = 64;

/** The sums of the blocks of a plain body: with them, each block is checked before it leaves the server. */
export interface BlockSums {
  /** Bytes of a block; the last may be shorter. */
  readonly block: number;
  /** One after the other. */
  readonly sums: Buffer;
}

/** How a plain body is checked by its blocks: `sums` are all, `root` is the GMAC of those that are in the record `c` of the blob; base64. */
export type StoredBlockSums =
  { readonly block: number; readonly sums: string } | { readonly block: number; readonly root: string };

/** Computes the sums while the bytes come, in chunks of any length. */
export class BlockSumsInProgress {
  readonly #block: number;
  readonly #sums: Buffer[] = [];
  #current: Gmac | undefined;
  #left = 0;

  constructor(block: number = BLOCK) {
    this.#block = block;
  }

  update(bytes: Buffer): void {
    for (let at = 0; at < bytes.length;) {
      if (this.#current === undefined) {
        this.#current = new Gmac();
        this.#left = this.#block;
      }
      const end = Math.min(at + this.#left, bytes.length);
      this.#current.update(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
      this.#left -= end - at;
      at = end;
      if (this.#left === 0) this.#finishBlock(this.#current);
    }
  }

  digest(): BlockSums {
    if (this.#current !== undefined) this.#finishBlock(this.#current);
    return { block: this.#block, sums: Buffer.concat(this.#sums) };
  }

  #finishBlock(gmac: Gmac): void {
    this.#sums.push(gmac.tag().subarray(0, SUM));
    this.#current = undefined;
  }
}

/** Whether these bytes are the block with this number. */
export function isBlock(bytes: Buffer, number: number, { sums }: BlockSums): boolean {
  return (
    sums.length >= (number + 1) * SUM && sums.compare(tagOf(bytes), 0, SUM, number * SUM, (number + 1) * SUM) === 0
  );
}

/** The same for parts with `apart`: thousands of them share a manifest, which must stay short. */
export function storedBlockSums({ block, sums }: BlockSums, apart: boolean): StoredBlockSums {
  if (apart || sums.length > MOST_INLINE * SUM) return { block, root: rootOf(sums) };
  return { block, sums: sums.toString('base64') };
}

/** Whether these are the sums that were stored. */
export function areStored({ block, sums }: BlockSums, stored: StoredBlockSums): boolean {
  if (block !== stored.block) return false;
  return 'sums' in stored ? sums.toString('base64') === stored.sums : rootOf(sums) === stored.root;
}

/** Whether there is a sum for each block of so many bytes. */
export function coverSize({ block, sums }: BlockSums, size: number): boolean {
  return sums.length === Math.ceil(size / block) * SUM;
}

/** A power of two from 64 KiB to 1 MiB. */
export function isBlockSize(block: unknown): block is number {
  return typeof block === 'number' && block >= 65_536 && block <= 1_048_576 && Number.isInteger(Math.log2(block));
}

function rootOf(sums: Buffer): string {
  return tagOf(sums).toString('base64');
}
