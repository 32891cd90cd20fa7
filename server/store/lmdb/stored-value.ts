/** A record as LMDB keeps it: 8 bytes of revision, big-endian, then the value. */
const REVISION_BYTES = 8;

/** Copies the value, with room for the revision, which is known only inside the transaction. */
export function roomFor(value: Buffer): Buffer {
  const stored = Buffer.allocUnsafe(REVISION_BYTES + value.length);
  value.copy(stored, REVISION_BYTES);
  return stored;
}

export function setRevision(stored: Buffer, revision: number): Buffer {
  stored.writeBigUInt64BE(BigInt(revision));
  return stored;
}

export function revisionOf(stored: Buffer): number {
  return Number(stored.readBigUInt64BE());
}

export function decodeStored(stored: Buffer): { readonly value: Buffer; readonly revision: number } {
  // lmdb-js gives some buffers a `length` of its own making; a view made from the memory has the true one.
  return {
    value: Buffer.from(stored.buffer, stored.byteOffset + REVISION_BYTES, stored.length - REVISION_BYTES),
    revision: revisionOf(stored),
  };
}
