import { crcTables } from './crc-tables.ts';

/** CRC-32C (Castagnoli), reflected: polynomial 0x1EDC6F41. @see RFC 3720, appendix B.4 */
export const CRC32C_POLYNOMIAL = 0x82f63b78n;

const tables = Array.from(crcTables(CRC32C_POLYNOMIAL, 8), (table) =>
  Int32Array.from(table, (entry) => Number(entry) | 0),
);
const [t0, t1, t2, t3, t4, t5, t6, t7] = tables as [
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
];

/** The checksum of `bytes` after those that gave `previous`, as an unsigned 32-bit number. Eight bytes a step. */
export function crc32c(bytes: Uint8Array, previous = 0): number {
  let crc = ~previous;
  let at = 0;
  const at8 = bytes.length - (bytes.length % 8);
  for (; at < at8; at += 8) {
    const low =
      crc ^ (byte(bytes, at) | (byte(bytes, at + 1) << 8) | (byte(bytes, at + 2) << 16) | (byte(bytes, at + 3) << 24));
    crc =
      entry(t7, low & 255) ^
      entry(t6, (low >>> 8) & 255) ^
      entry(t5, (low >>> 16) & 255) ^
      entry(t4, low >>> 24) ^
      entry(t3, byte(bytes, at + 4)) ^
      entry(t2, byte(bytes, at + 5)) ^
      entry(t1, byte(bytes, at + 6)) ^
      entry(t0, byte(bytes, at + 7));
  }
  for (; at < bytes.length; at += 1) crc = (crc >>> 8) ^ entry(t0, (crc ^ byte(bytes, at)) & 255);
  return ~crc >>> 0;
}

// Within bounds by construction; the engine inlines both.
function byte(bytes: Uint8Array, at: number): number {
  return bytes[at] as number;
}
function entry(table: Int32Array, at: number): number {
  return table[at] as number;
}
