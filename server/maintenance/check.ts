import type { KeySource } from '../encryption/key-source.ts';
import type { BlockSums } from '../objects/checksums/block-sums.ts';
import type { BlobId, BlobStore } from '../store/blob-store.ts';
import type { RecordStore } from '../store/record-store.ts';
import type { StoredStream } from './check-stream.ts';

/** What every part of a verification works with. */
export interface Check {
  readonly records: RecordStore;
  readonly blobs: BlobStore;
  /** Where it is given, encrypted bodies are opened; else they are held against the checksum of their ciphertext. */
  readonly keys: KeySource | undefined;
  /** Whether these are opened, for which the key service may be asked; where not, their checksums say enough. */
  readonly opens: (streams: readonly StoredStream[]) => boolean;
  /** Whether bodies in blobs are read. Inline ones always are: their record is read anyway. */
  readonly bodies: boolean;
  /** Told of bytes that were read, before more are asked for: here a scrub waits for its turn. */
  readonly paced: (bytes: number) => Promise<void> | void;
  /** Keeps the block sums of a plain blob that was found whole; `wrong` says what those were that are replaced. */
  readonly keepSums?: (blob: BlobId, sums: BlockSums, wrong: string | undefined) => Promise<void>;
  readonly signal: AbortSignal | undefined;
}
