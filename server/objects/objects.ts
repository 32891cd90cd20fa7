import type { KeySource } from '../encryption/key-source.ts';
import type { BlobStore } from '../store/blob-store.ts';
import type { RecordStore } from '../store/record-store.ts';
import type { ObjectLayer } from './object-layer.ts';

export interface ObjectLayerOptions {
  readonly records: RecordStore;
  readonly blobs: BlobStore;
  /** `noKeySource` where no key service is configured. */
  readonly keys: KeySource;
  /** Milliseconds since 1970; `Date.now` by default. */
  readonly clock?: () => number;
  /** Cryptographically random bytes; `randomBytes` by default. */
  readonly random?: (size: number) => Buffer;
  /** Bodies of up to this many plaintext bytes live in the record store; 128 KiB by default. */
  readonly inlineLimit?: number;
  /** SSE-KMS under the default key where neither request nor bucket asks for encryption. */
  readonly autoEncryption?: boolean;
  /** Free space of the blobs below which writes are refused; none by default. */
  readonly reserve?: { readonly bytes: number } | { readonly percent: number };
}

export function createObjectLayer(_options: ObjectLayerOptions): ObjectLayer {
  throw new Error('not yet');
}
