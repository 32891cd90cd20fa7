import { crc32 } from 'node:zlib';
import type { BlobId } from '../../store/blob-store.ts';
import type { Checksum } from '../object-layer.ts';
import type { Protection } from './object-record.ts';
import { UnreadableRecord } from './record-format.ts';
import type { SealedChecksum } from './stored-digests.ts';

/** The parts of an object in their order; each is a blob of its own. */
export interface ManifestPart {
  readonly number: number;
  readonly blob: BlobId;
  /** Of the plaintext. */
  readonly size: number;
  readonly protection: Protection;
  /** The text, or a sealed one in base64. Its algorithm and type are those of the upload. */
  readonly checksum?: Checksum['value'] | Pick<SealedChecksum, 'sealed'>;
}

export function encodeManifest(parts: readonly ManifestPart[]): Buffer {
  return Buffer.from(JSON.stringify(parts));
}

/**
 * `crc` is what the object's record says of these bytes; older records say nothing. Throws `UnreadableRecord`: a manifest with a
 * changed byte may well be JSON, of other parts.
 */
export function decodeManifest(bytes: Buffer, crc: number | undefined): readonly ManifestPart[] {
  if (crc !== undefined && crc32(bytes) !== crc)
    throw new UnreadableRecord('the list of its parts does not have its checksum');
  try {
    return JSON.parse(bytes.toString()) as ManifestPart[];
  } catch (error) {
    throw new UnreadableRecord('the list of its parts is damaged', { cause: error });
  }
}
