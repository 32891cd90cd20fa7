import type { BodyDigests } from './checksums/body-digests.ts';
import { type BlockSums, storedBlockSums } from './checksums/block-sums.ts';
import type { Protection } from './records/object-record.ts';

/** What an encrypted body leaves to be checked by: its salt, and the CRC-32 or the GMAC of what is stored. */
export type Sealed = { readonly salt: Buffer } & ({ readonly stored: number } | { readonly mac: string });

export interface Protected {
  readonly protection: Protection;
  /** What the commit that claims the blob must write under `c`. */
  readonly recordedSums?: BlockSums;
}

/** By what a body is checked when it is read: sums of a plain one, what stands in `sealed` of an encrypted one. */
export function protectionOf({ sums }: BodyDigests, sealed: Sealed | undefined, sumsApart = false): Protected {
  if (sealed !== undefined) return { protection: { ...sealed, salt: sealed.salt.toString('base64') } };
  if (sums === undefined) throw new Error('a plain body has a sum');
  if ('crc' in sums) return { protection: sums };
  const protection = storedBlockSums(sums, sumsApart);
  return { protection, ...('root' in protection && { recordedSums: sums }) };
}
