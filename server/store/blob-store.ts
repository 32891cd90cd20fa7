import { isStoreError, StoreError, isStoreUnavailable, type UnavailableCode } from './store-error.ts';
import type { Chunks } from '../streams/chunks.ts';
import type { VolumeSpace } from './volume-space.ts';

/** The file of many bodies: 16 hexadecimal characters, `ff` and 7 random bytes. */
export type SegmentId = string & { readonly __brand: 'SegmentId' };

/**
 * Holds bodies that are too large for a record. Each blob has an id of its own, is written once and never changes.
 *
 * Every engine guarantees this (`blob-store.conformance.ts` tests it):
 * - when `write` resolves, the blob survives a power cut, name included; before that, `read` and `list` do not show it whole;
 * - when `write` rejects (the body failed, the disk is full, the client disconnected), nothing readable remains;
 * - memory does not grow with the size of a blob;
 * - `remove` of an absent blob is not an error, because removals are repeated after a crash.
 */
export interface BlobStore {
  /**
   * Writes a new blob. Ids are never used twice.
   *
   * @example
   *     const { size } = await blobs.write(id, request);
   */
  write(id: BlobId, body: AsyncIterable<Buffer>, options?: WriteOptions): Promise<{ readonly size: number }>;

  /**
   * Reads a range of a blob in borrowed chunks: the caller may overwrite a chunk, and the next call of `next` or `close` reuses its buffer.
   * `keptPieces` copies them into chunks that the caller may keep. With `cuts`, chunks end there if that costs the store nothing.
   *
   * Before the first byte it fails with `StoreError` `blob-missing` if there is no such blob, with `blob-truncated` if the blob ends before
   * the range, and with `blob-altered` if it is not a regular file or has another size than `range.size`.
   *
   * @example
   *     for await (const chunk of eachPiece(blobs.read(id, { start: 0, end: size, size }))) hash.update(chunk);
   */
  read(id: BlobId, range: BlobRange): Chunks;

  remove(id: BlobId): Promise<void>;

  /** Lists every blob, including half-written ones, for garbage collection and `verify`. */
  list(): AsyncIterable<{ readonly id: BlobId; readonly size: number; readonly ageMs: number }>;

  /** Returns the room of the disk that holds the blobs, if the engine knows it. */
  space(): Promise<VolumeSpace | undefined>;

  /**
   * Rejects with `StoreError` while a write would fail: the volume is away or read-only, or a right is missing. Undefined where the engine
   * cannot tell without a request.
   */
  check?(): Promise<void>;

  /** Lets the next calls use new connections, because an answer was wrong. Absent where there are none. */
  renew?(): Promise<void>;

  /** The files that many bodies share. Undefined where each body is a blob of its own. */
  readonly segments?: Segments | undefined;
}

/**
 * Appends bodies to segments, large files with many bodies each, so that bodies that arrive together share a flush. `read` reads a packed
 * body by the id that `write` returned, as any other blob; `remove` and `list` of the store do not touch it. The space comes back when
 * its whole segment is removed.
 */
export interface Segments {
  /** Resolves when the body is durable. A body of another length than `length` is an error. */
  write(
    body: AsyncIterable<Buffer>,
    options: WriteOptions & { readonly length: number },
  ): Promise<{ readonly id: BlobId }>;

  /** Lists all segments. Nothing more is written to one that is sealed. */
  list(): AsyncIterable<ListedSegment>;

  /**
   * Seals the segment to which this object appends if `isDue` says so. Its last writer closes it, and the next body begins another one.
   * Segments of other threads and servers stay as they are.
   */
  sealOpen(isDue: (open: OpenSegmentSize) => Promise<boolean>): Promise<void>;

  /** Returns false where there is no such segment; on a shared file system, also where another server made it a moment ago. */
  has(segment: SegmentId): Promise<boolean>;

  /** Removes a segment with all its bodies. An absent one is not an error. */
  remove(segment: SegmentId): Promise<void>;
}

export interface ListedSegment {
  readonly segment: SegmentId;
  /** Bytes, with those that no body uses. */
  readonly size: number;
  /** The bytes of uploads that broke off, as the writer of the segment counted them. 0 where its process was killed. */
  readonly failed: number;
  /** Milliseconds since the last write. */
  readonly ageMs: number;
  readonly sealed: boolean;
  /** True where little of it is used: compaction joins such segments. */
  readonly small: boolean;
}

/** The size of a segment to which bodies are appended, in bytes. */
export interface OpenSegmentSize {
  readonly segment: SegmentId;
  /** With those of bodies that are not complete. */
  readonly size: number;
  /** The bytes of bodies that failed. */
  readonly failed: number;
  /** The size at which it is sealed in any case. */
  readonly full: number;
}

export interface WriteOptions {
  /**
   * Called once for each chunk when the store no longer uses its memory, at the latest when `write` settles. The caller may then reuse the
   * memory, which it may share with other threads. Without this option the store owns the chunks.
   */
  readonly release?: ((chunk: Buffer) => void) | undefined;
  /** True where chunks are many whole pages that begin at page boundaries: each is written as it is. Others are gathered. */
  readonly pages?: boolean | undefined;
}

/** The bytes from `start` to `end` (exclusive) of a blob. */
export interface BlobRange {
  readonly start: number;
  readonly end: number;
  /** The size of the whole blob, if the caller knows it. */
  readonly size?: number | undefined;
  /** Preferred ends of chunks: byte `from`, and every `every` bytes after it. */
  readonly cuts?: Cuts | undefined;
}

export interface Cuts {
  readonly from: number;
  readonly every: number;
}

/** 32 hexadecimal characters: an id of `slot.ts`, the place of a packed body (`packed-id.ts`), or the id of a body in a tier (`tiered-id.ts`). */
export type BlobId = string & { readonly __brand: 'BlobId' };

/** Returns the error of a blob store that is unavailable while the record store may be available. */
export function blobsUnavailable(code: UnavailableCode, message: string, options?: ErrorOptions): StoreError {
  return new StoreError(code, message, { ...options, store: 'blobs' });
}

/** Rethrows the error of an unavailable store as one of the blob store. For use in `catch`. */
export function blamesBlobs(error: unknown): never {
  if (!isStoreUnavailable(error)) throw error;
  throw blobsUnavailable(error.code, error.message, { cause: error });
}

/** Returns true if the store has neither blobs nor segments. */
export async function isEmptyStore(blobs: Pick<BlobStore, 'list' | 'segments'>): Promise<boolean> {
  for await (const _blob of blobs.list()) return false;
  for await (const _segment of blobs.segments?.list() ?? []) return false;
  return true;
}

export function isBlobId(text: string): text is BlobId {
  return /^[0-9a-f]{32}$/.test(text);
}

/** `place` names the object of another store that has the blob, with its bucket: an administrator looks for it there. */
export function blobMissing(id: BlobId, place?: string): StoreError {
  return new StoreError('blob-missing', `blob ${id} is missing${placed(place)}`);
}

export function blobTruncated(id: BlobId, at: number, place?: string): StoreError {
  return new StoreError('blob-truncated', `blob ${id} ends before byte ${at}, which was written${placed(place)}`);
}

export function blobAltered(id: BlobId, what: string, place?: string): StoreError {
  return new StoreError('blob-altered', `blob ${id} ${what}${placed(place)}`);
}

function placed(place: string | undefined): string {
  return place === undefined ? '' : ` (${place})`;
}

/** Returns true if the error says that a blob is there but truncated or altered. */
export function isDamagedBlob(error: unknown): error is StoreError {
  return isStoreError(error, 'blob-truncated', 'blob-altered');
}
