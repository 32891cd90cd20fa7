import { crc32 } from 'node:zlib';
import type { BlobId } from '../../store/blob-store.ts';
import { type BlockSums, isBlockSize } from '../checksums/block-sums.ts';
import type { Checksum } from '../contract/object-layer.ts';
import type { Protection } from './object-record.ts';
import type { SealedChecksum } from './stored-digests.ts';
import { StoreError } from '../../store/store-error.ts';

/** The parts of an object in their order; each is a blob of its own. */
export interface ManifestPart {
  readonly number: number;
  readonly blob: BlobId;
  /** Plaintext bytes. */
  readonly size: number;
  readonly protection: Protection;
  /** The text, or a sealed one in base64. Its algorithm and type are those of the upload. */
  readonly checksum?: Checksum['value'] | Pick<SealedChecksum, 'sealed'>;
}

export function encodeManifest(parts: readonly ManifestPart[]): Buffer {
  return Buffer.from(JSON.stringify(parts));
}

/**
 * `crc` is the checksum in the object's record; older records have none. Throws `StoreError`: a manifest with a changed byte may
 * be valid JSON with other parts.
 */
export function decodeManifest(bytes: Buffer, crc: number | undefined): readonly ManifestPart[] {
  if (crc !== undefined && crc32(bytes) !== crc)
    throw new StoreError('unreadable-record', 'the list of its parts does not have its checksum');
  try {
    return JSON.parse(bytes.toString()) as ManifestPart[];
  } catch (error) {
    throw new StoreError('unreadable-record', 'the list of its parts is damaged', { cause: error });
  }
}

/** The record `c` of a blob: a byte of format version, the binary logarithm of the block size, the CRC-32 of the sums, the sums. */
const BLOCK_SUMS_FORMAT = 1;

const CRC = 2;

const SUMS = 6;

export function encodeBlockSums({ block, sums }: BlockSums): Buffer {
  const record = Buffer.allocUnsafe(SUMS + sums.length);
  record[0] = BLOCK_SUMS_FORMAT;
  record[1] = Math.log2(block);
  record.writeUInt32BE(crc32(sums), CRC);
  sums.copy(record, SUMS);
  return record;
}

/** Throws `StoreError`. */
export function decodeBlockSums(value: Buffer, blob: string): BlockSums {
  if (value[0] !== BLOCK_SUMS_FORMAT) {
    throw new StoreError(
      'unreadable-record',
      `the block sums of blob ${blob} have format ${value[0]}, this server knows ${BLOCK_SUMS_FORMAT}: start the newer server that wrote them`,
    );
  }
  const block = 2 ** (value[1] ?? 0);
  const sums = value.subarray(SUMS);
  if (value.length < SUMS || !isBlockSize(block) || crc32(sums) !== value.readUInt32BE(CRC)) {
    throw new StoreError('unreadable-record', `the block sums of blob ${blob} are damaged`);
  }
  return { block, sums };
}
