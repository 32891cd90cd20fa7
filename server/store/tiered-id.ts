import type { BlobId } from './blob-store.ts';
import { slotOf } from './slot.ts';

/** The number of a tier: 8 hexadecimal characters. */
export type TierNumber = string & { readonly __brand: 'TierNumber' };

/**
 * A body in a tier has a blob id that names its tier: `fe`, 4 bytes of number, 2 of the slot of its bucket (`slot.ts`), 9 random ones. Other
 * blob ids begin with a time, whose first byte is not fe before the year 10,000, or with ff (`packed-id.ts`).
 */
const TIERED = 'fe';
const NUMBER = 10;

export function newTierNumber(random: (size: number) => Buffer): TierNumber {
  return random(4).toString('hex') as TierNumber;
}

export function newTieredId(tier: TierNumber, bucket: string, random: (size: number) => Buffer): BlobId {
  return (TIERED + tier + slotOf(bucket) + random(9).toString('hex')) as BlobId;
}

/** Returns the tier of a body; undefined for a body in the blob store of the server. */
export function tierOf(blob: BlobId): TierNumber | undefined {
  return blob.startsWith(TIERED) ? (blob.slice(TIERED.length, NUMBER) as TierNumber) : undefined;
}

/** The first and the last id that a body in a tier can have. */
export function tierIds(tier: TierNumber): { readonly first: BlobId; readonly last: BlobId } {
  const start = TIERED + tier;
  return { first: start.padEnd(32, '0') as BlobId, last: start.padEnd(32, 'f') as BlobId };
}
