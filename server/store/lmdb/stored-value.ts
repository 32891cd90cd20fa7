/** A record as LMDB keeps it: 8 bytes of revision, big-endian, then the value; or, of a large one, then what `Stored` says. */
export const REVISION_BYTES = 8;
const HIGH = 2 ** 32;

/**
 * The bytes of a value that take one page of LMDB's at most, with the 24 of its head. A value that takes more would need pages side by
 * side: then the file has holes that are too small for one value and too many to look through for another.
 */
const PIECE_BYTES = 4072;
/** In the first byte, which is of no revision: those are below 2^53. */
const IN_PIECES = 0x80;
/** Revision, length of the value (4 bytes), number of the record in its batch (4 bytes). */
const HEAD_BYTES = REVISION_BYTES + 8;

/** A value on its way: `record` has room for the revision, which is known only inside the transaction. */
export interface Stored {
  readonly record: Buffer;
  /** What does not fit beside the beginning of the value in one page, page by page. */
  readonly pieces: readonly Buffer[];
}

/** Copies the value. `index` is the place of the record in its batch, by which its pieces are found. */
export function storedOf(value: Buffer, index: number): Stored {
  if (REVISION_BYTES + value.length <= PIECE_BYTES) {
    const record = Buffer.allocUnsafe(REVISION_BYTES + value.length);
    value.copy(record, REVISION_BYTES);
    return { record, pieces: [] };
  }
  const count = Math.ceil((value.length - (PIECE_BYTES - HEAD_BYTES)) / PIECE_BYTES);
  // Little, mostly: so it stands in the page of its key.
  const beside = Math.max(0, value.length - count * PIECE_BYTES);
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + value.length);
  bytes.writeUInt32BE(value.length, REVISION_BYTES);
  bytes.writeUInt32BE(index, REVISION_BYTES + 4);
  value.copy(bytes, HEAD_BYTES);
  const start = HEAD_BYTES + beside;
  const pieces = Array.from({ length: count }, (_, piece) =>
    bytes.subarray(start + piece * PIECE_BYTES, start + (piece + 1) * PIECE_BYTES),
  );
  return { record: bytes.subarray(0, start), pieces };
}

export function setRevision({ record, pieces }: Stored, revision: number): void {
  writeRevision(record, revision);
  if (pieces.length > 0) record[0] = IN_PIECES;
}

/** At the beginning of `bytes`, in order. */
export function writeRevision(bytes: Buffer, revision: number): void {
  // Two halves: a BigInt for each record written or read would be garbage.
  bytes.writeUInt32BE(Math.floor(revision / HIGH), 0);
  bytes.writeUInt32BE(revision % HIGH, 4);
}

export function revisionOf(record: Buffer): number {
  return (record.readUInt32BE(0) & 0x7fffffff) * HIGH + record.readUInt32BE(4);
}

/** How a value that is in pieces is put together again. */
export interface Parts {
  readonly revision: number;
  readonly index: number;
  /** Bytes of the whole value. */
  readonly length: number;
  /** Where in the record its beginning stands. */
  readonly start: number;
}

/** `undefined` for a value that stands whole in its record. */
export function partsOf(record: Buffer): Parts | undefined {
  if (((record[0] ?? 0) & IN_PIECES) === 0) return undefined;
  const length = record.readUInt32BE(REVISION_BYTES);
  return { revision: revisionOf(record), index: record.readUInt32BE(REVISION_BYTES + 4), length, start: HEAD_BYTES };
}

/** How many pieces there are of a value whose record has `size` bytes. */
export function pieceCount({ length, start }: Parts, size: number): number {
  return Math.ceil((length - (size - start)) / PIECE_BYTES);
}

/** Large values come as a view of LMDB's map, and `length` may be of lmdb-js' own making: `size` is what belongs to the record. */
export function asBuffer(stored: Uint8Array, size: number): Buffer {
  return Buffer.isBuffer(stored) ? stored : Buffer.from(stored.buffer, stored.byteOffset, size);
}
