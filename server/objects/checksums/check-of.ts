import { crc32 } from 'node:zlib';
import { areStored, BlockSumsInProgress, type StoredBlockSums } from './block-sums.ts';
import { Gmac } from './gmac.ts';

/** What is kept of plain bytes, to tell later whether they are the same. Where there are both, the GMAC is looked at: it is faster. */
export type Sums = { readonly crc: number; readonly gmac?: string } | { readonly gmac: string } | StoredBlockSums;

/** A check in progress. */
export interface Check {
  update(bytes: Buffer): void;
  /** To be asked once, after the last byte. */
  holds(): boolean;
}

export function checkOf(sums: Sums): Check {
  if ('block' in sums) {
    const blocks = new BlockSumsInProgress(sums.block);
    return { update: (bytes) => blocks.update(bytes), holds: () => areStored(blocks.digest(), sums) };
  }
  const { gmac } = sums;
  if (gmac !== undefined) {
    const mac = new Gmac();
    return { update: (bytes) => mac.update(bytes), holds: () => mac.digest() === gmac };
  }
  // A record that was changed by hand may have neither: then nothing holds.
  const crc = 'crc' in sums ? sums.crc : undefined;
  let sum = 0;
  return {
    update(bytes) {
      sum = crc32(bytes, sum);
    },
    holds: () => sum === crc,
  };
}

export function holds(sums: Sums, bytes: Buffer): boolean {
  const check = checkOf(sums);
  check.update(bytes);
  return check.holds();
}
