import type { Readable } from 'node:stream';
import type { Pieces } from '../../platform/pieces.ts';
import { StoreUnavailable } from './record-store.ts';

/**
 * Bodies too large for a record, each under an id of its own, written once and never changed.
 *
 * What an implementer owes, held by `blob-store.conformance.ts` over every engine:
 * - when `write` resolves, the blob survives a power cut, name included; before that, `read` and `list` do not show it whole;
 * - when `write` rejects (the stream failed, the disk is full, the client went away), nothing readable stays behind;
 * - memory does not grow with the size of a blob;
 * - `remove` of an absent blob is not an error: removal is repeated after a crash.
 */
export interface BlobStore {
  /** Streams a new blob in. Ids are never used twice. A chunk is the store's once yielded: it may be written after the next one came. */
  write(id: BlobId, body: AsyncIterable<Buffer>): Promise<{ readonly size: number }>;

  /**
   * The same from pieces of memory that is used again: each is released once the store refers to it no more, and all are when this
   * settles. Their memory may be shared with other threads, and should begin at a page. Engines that must keep bytes have no such method.
   */
  writePieces?(id: BlobId, pieces: AsyncIterable<Piece>): Promise<{ readonly size: number }>;

  /**
   * Bytes from `start` inclusive to `end` exclusive. Errors with `BlobMissing` when there is no such blob,
   * with `BlobTruncated` when it ends before the range does, with `BlobAltered` when it has not the `size` that is given, or is
   * something else than a file: before the first byte.
   */
  read(id: BlobId, range: BlobBytes): Readable;

  /**
   * The same for who is done with a piece before he asks for the next, so that its buffer may be used again. Until then the buffer is
   * his to write into. With `cuts`, pieces end there where it costs the store nothing.
   */
  lend(id: BlobId, range: BlobBytes & { readonly cuts?: Cuts }): Pieces;

  remove(id: BlobId): Promise<void>;

  /** Every blob, half-written ones included: for the sweeper and `verify`. */
  list(): AsyncIterable<{ readonly id: BlobId; readonly size: number; readonly ageMs: number }>;

  /** Free and total bytes of what holds the blobs, where that can be told. */
  space(): Promise<{ readonly free: number; readonly total: number } | undefined>;
}

/** Bytes from `start` to `end`, exclusive, of a blob that has `size` in all, where that is known. */
export interface BlobBytes {
  readonly start: number;
  readonly end: number;
  readonly size?: number;
}

/** Places in a blob: byte `from`, and every so many bytes after it. */
export interface Cuts {
  readonly from: number;
  readonly every: number;
}

export interface Piece {
  readonly bytes: Buffer;
  release(): void;
}

/** 32 hexadecimal characters: 6 bytes of milliseconds since 1970, then 10 random ones. */
export type BlobId = string & { readonly __brand: 'BlobId' };

/** The blobs are away, where the records may be there. */
export class BlobsUnavailable extends StoreUnavailable {}

/** For `catch`: says of a failed `StoreUnavailable` that it was the blobs'. */
export function blamesBlobs(error: unknown): never {
  if (!(error instanceof StoreUnavailable)) throw error;
  throw new BlobsUnavailable(error.reason, error.message, { cause: error });
}

export class BlobMissing extends Error {
  override readonly name = 'BlobMissing';
  constructor(id: BlobId) {
    super(`blob ${id} is missing`);
  }
}

/** A blob is not what was written: that shows without a look at its bytes. */
export class BlobAltered extends Error {
  override readonly name: string = 'BlobAltered';
  constructor(id: BlobId, what: string) {
    super(`blob ${id} ${what}`);
  }
}

/** Bytes that were written are gone: the disk lost them, or the file was cut. */
export class BlobTruncated extends BlobAltered {
  override readonly name = 'BlobTruncated';
  constructor(id: BlobId, at: number) {
    super(id, `ends before byte ${at}, which was written`);
  }
}

export function isBlobId(text: string): text is BlobId {
  return /^[0-9a-f]{32}$/.test(text);
}
