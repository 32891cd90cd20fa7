/**
 * Encodes arrays in PostgreSQL's binary format. In the text format each byte of a value takes two characters: a body of 16 MiB would be
 * a string of 32 million characters.
 * @see `array_send` and `array_recv` of PostgreSQL; CockroachDB and YugabyteDB read the same
 */
const OID = { bytea: 17, bigint: 20 } as const;

export function byteaArray(items: readonly (Uint8Array | null)[]): Buffer {
  return arrayOf(OID.bytea, items);
}

/** Takes numbers as 8 bytes, big-endian. */
export function rawBigintArray(items: readonly (Uint8Array | null)[]): Buffer {
  return arrayOf(OID.bigint, items);
}

function arrayOf(type: number, items: readonly (Uint8Array | null)[]): Buffer {
  let size = HEADER;
  for (const item of items) size += 4 + (item === null ? 0 : item.length);
  const bytes = Buffer.allocUnsafe(size);
  let at = writeHeader(bytes, type, items.length);
  for (const item of items) {
    at = bytes.writeInt32BE(item === null ? -1 : item.length, at);
    if (item === null) continue;
    bytes.set(item, at);
    at += item.length;
  }
  return bytes.subarray(0, at);
}

/** Takes integers up to 2^53. */
export function bigintArray(items: readonly (number | null)[]): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER + 12 * items.length);
  let at = writeHeader(bytes, OID.bigint, items.length);
  for (const item of items) {
    at = bytes.writeInt32BE(item === null ? -1 : 8, at);
    if (item !== null) at = writeBigint(bytes, item, at);
  }
  return bytes.subarray(0, at);
}

export function bigint(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  writeBigint(bytes, value, 0);
  return bytes;
}

/** Reads a `bigint` of a result, exact up to 2^53. */
export function readBigint(bytes: Buffer): number {
  return bytes.readInt32BE(0) * 2 ** 32 + bytes.readUInt32BE(4);
}

/** Dimensions, flags, type, length and lower bound: 20 bytes, of which an empty array has the first 12. */
const HEADER = 20;

function writeHeader(bytes: Buffer, type: number, length: number): number {
  bytes.writeInt32BE(length === 0 ? 0 : 1, 0);
  bytes.writeInt32BE(1, 4);
  bytes.writeInt32BE(type, 8);
  if (length === 0) return 12;
  bytes.writeInt32BE(length, 12);
  return bytes.writeInt32BE(1, 16);
}

/** Writes two halves, which avoids a BigInt. */
function writeBigint(bytes: Buffer, value: number, at: number): number {
  const high = Math.floor(value / 2 ** 32);
  return bytes.writeUInt32BE(value - high * 2 ** 32, bytes.writeInt32BE(high, at));
}
