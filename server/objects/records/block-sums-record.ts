import { crc32 } from 'node:zlib';
import { type BlockSums, isBlockSize } from '../checksums/block-sums.ts';
import { UnreadableRecord } from './record-format.ts';

/** The record `c` of a blob: a byte of format version, the binary logarithm of the block size, the CRC-32 of the sums, the sums. */
const FORMAT = 1;
const CRC = 2;
const SUMS = 6;

export function encodeBlockSums({ block, sums }: BlockSums): Buffer {
  const record = Buffer.allocUnsafe(SUMS + sums.length);
  record[0] = FORMAT;
  record[1] = Math.log2(block);
  record.writeUInt32BE(crc32(sums), CRC);
  sums.copy(record, SUMS);
  return record;
}

/** Throws `UnreadableRecord`. */
export function decodeBlockSums(value: Buffer, blob: string): BlockSums {
  if (value[0] !== FORMAT) {
    throw new UnreadableRecord(
      `the block sums of blob ${blob} have format ${value[0]}, this server knows ${FORMAT}: start the newer server that wrote them`,
    );
  }
  const block = 2 ** (value[1] ?? 0);
  const sums = value.subarray(SUMS);
  if (value.length < SUMS || !isBlockSize(block) || crc32(sums) !== value.readUInt32BE(CRC)) {
    throw new UnreadableRecord(`the block sums of blob ${blob} are damaged`);
  }
  return { block, sums };
}
