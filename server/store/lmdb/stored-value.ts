/** A record as LMDB keeps it: 8 bytes of revision, big-endian, then the value. */
export const REVISION_BYTES = 8;
const HIGH = 2 ** 32;

export interface StoredRecord {
  readonly value: Buffer;
  readonly revision: number;
}

/** Copies the value, with room for the revision, which is known only inside the transaction. */
export function roomFor(value: Buffer): Buffer {
  const stored = Buffer.allocUnsafe(REVISION_BYTES + value.length);
  value.copy(stored, REVISION_BYTES);
  return stored;
}

export function setRevision(stored: Buffer, revision: number): Buffer {
  // Two halves: a BigInt for each record written or read would be garbage.
  stored.writeUInt32BE(Math.floor(revision / HIGH), 0);
  stored.writeUInt32BE(revision % HIGH, 4);
  return stored;
}

export function revisionOf(stored: Buffer): number {
  return stored.readUInt32BE(0) * HIGH + stored.readUInt32BE(4);
}

/**
 * Copies the value out of `stored`, whose memory lmdb-js uses again and whose `length` may be of its own making: `size` is what of it
 * belongs to the record.
 */
export function decodeStored(stored: Uint8Array, size: number): StoredRecord {
  const bytes = asBuffer(stored, size);
  // Out of the pool: memory of its own for each small record cost more than reading it.
  const value = Buffer.allocUnsafe(size - REVISION_BYTES);
  bytes.copy(value, 0, REVISION_BYTES, size);
  return { value, revision: revisionOf(bytes) };
}

/** Large values come as a view of LMDB's map. */
export function asBuffer(stored: Uint8Array, size: number): Buffer {
  return Buffer.isBuffer(stored) ? stored : Buffer.from(stored.buffer, stored.byteOffset, size);
}
