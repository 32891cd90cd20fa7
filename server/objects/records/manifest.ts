import type { BlobId } from '../../store/blob-store.ts';
import type { Checksum } from '../object-layer.ts';
import type { Protection } from './object-record.ts';

/** The parts of an object in their order; each is a blob of its own. */
export interface ManifestPart {
  readonly number: number;
  readonly blob: BlobId;
  /** Of the plaintext. */
  readonly size: number;
  readonly protection: Protection;
  readonly checksum?: Checksum['value'];
}

export function encodeManifest(parts: readonly ManifestPart[]): Buffer {
  return Buffer.from(JSON.stringify(parts));
}

export function decodeManifest(bytes: Buffer): readonly ManifestPart[] {
  return JSON.parse(bytes.toString()) as ManifestPart[];
}
