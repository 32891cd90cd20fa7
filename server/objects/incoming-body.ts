import type { BlobId } from '../store/blob-store.ts';
import type { BodyDigests } from './checksums/body-digests.ts';
import type { BlockSums } from './checksums/block-sums.ts';
import type { BodySource, ExpectedDigests } from './object-layer.ts';
import type { Protection } from './records/object-record.ts';

export interface IncomingBody {
  readonly body: BodySource;
  readonly size: number;
  readonly digests: ExpectedDigests;
  /** Whether the ETag is to be the MD5. */
  readonly md5: boolean;
  /** Encrypts under a stream key of its own. */
  readonly objectKey: Buffer | undefined;
  /** Up to this size the bytes are given back instead of becoming a blob. */
  readonly inlineLimit: number;
  /** Whether block sums go to a record of their own, however few. */
  readonly sumsApart?: boolean;
}

/** A blob, and what must be written under `c` by the commit that claims it. */
export interface StoredBlob {
  readonly blob: BlobId;
  readonly recordedSums?: BlockSums;
}

/** A body that came whole and was what the request said; nothing refers to it yet. */
export interface ReceivedBody {
  readonly digests: BodyDigests;
  readonly protection: Protection;
  readonly stored: { readonly kind: 'inline'; readonly bytes: Buffer } | ({ readonly kind: 'blob' } & StoredBlob);
}
