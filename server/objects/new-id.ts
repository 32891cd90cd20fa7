import type { BlobId } from '../store/blob-store.ts';

/** An id of 32 hexadecimal characters, in the order of time: 6 bytes of milliseconds since 1970, then 10 random ones. */
export function newId(now: number, random: (size: number) => Buffer): string {
  return now.toString(16).padStart(12, '0') + random(10).toString('hex');
}

export function newBlobId(now: number, random: (size: number) => Buffer): BlobId {
  return newId(now, random) as BlobId;
}
