import { hash } from 'node:crypto';

/** One of 65,536 parts of the buckets of a deployment, as 4 hexadecimal digits. `places.ts` says which records it has. */
export type Slot = string & { readonly __brand: 'Slot' };

const DIGITS = 4;

/** The slots of the buckets that were named last. Each PUT of a large body needs one. */
const known = new Map<string, Slot>();
const MAX_KNOWN = 1024;

/** Returns the first two bytes of the SHA-256 of the bucket's name. */
export function slotOf(bucket: string): Slot {
  const found = known.get(bucket);
  if (found !== undefined) return found;
  const slot = hash('sha256', bucket).slice(0, DIGITS) as Slot;
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(bucket, slot);
  return slot;
}

const TIME_DIGITS = 12;
const SLOT_BYTES = DIGITS / 2;
const RANDOM_BYTES = 8;

/** Makes an id of 32 hexadecimal characters that sorts by time: 6 bytes of milliseconds since 1970, then 10 random ones. */
export function newId(now: number, random: (size: number) => Buffer): string {
  return timeDigits(now) + random(SLOT_BYTES + RANDOM_BYTES).toString('hex');
}

/**
 * Makes an id of 32 hexadecimal characters that sorts by time: 6 bytes of milliseconds since 1970, 2 of the slot of its bucket, 8 random ones. The
 * last byte is random, because folders and prefixes of blobs are spread by it.
 */
export function newSlottedId(bucket: string, now: number, random: (size: number) => Buffer): string {
  return timeDigits(now) + slotOf(bucket) + random(RANDOM_BYTES).toString('hex');
}

/** Makes the random end of a key that begins with a time: 8 random bytes, 2 of the slot of its bucket. */
export function slottedEnd(bucket: string, random: (size: number) => Buffer): Buffer {
  return Buffer.concat([random(RANDOM_BYTES), Buffer.from(slotOf(bucket), 'hex')]);
}

function timeDigits(now: number): string {
  return now.toString(16).padStart(TIME_DIGITS, '0');
}
