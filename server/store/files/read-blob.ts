import type { Readable } from 'node:stream';
import { bodyBuffers, bodyBytesPassed, type BufferPool } from '../../../platform/body-buffers.ts';
import { ownPieces, type Pieces, readable } from '../../../platform/pieces.ts';
import { BlobAltered, type BlobId, BlobMissing, BlobTruncated, type Cuts } from '../blob-store.ts';
import { type BlobFileSystem, codeOf, isNoSuchFile, type OpenFile } from './file-system.ts';

/** Reads of 64 KiB got 1.3 GB/s out of a disk that reads of 1 MiB got 3.0 out of. */
const READ_BYTES = 1024 * 1024;

/** A blob's file, and the bytes of it from `start` to `end`, exclusive. */
export interface BlobRange {
  readonly fs: BlobFileSystem;
  readonly path: string;
  readonly id: BlobId;
  readonly start: number;
  readonly end: number;
  /** What the file has in all, where that is known. */
  readonly size?: number;
  /** Where pieces had better end. */
  readonly cuts?: Cuts;
}

/** For who keeps pieces: each is a new buffer. The file is opened when first read, and closed after its last read. */
export function readBlob(range: BlobRange): Readable {
  return readable(ownPieces(newBuffers(range)));
}

async function* newBuffers(range: BlobRange): AsyncIterable<Buffer> {
  const { id, start, end } = range;
  const file = await opened(range);
  try {
    let position = start;
    while (position < end) {
      const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, end - position));
      const count = await file.read(buffer, position);
      if (count === 0) throw new BlobTruncated(id, end);
      position += count;
      bodyBytesPassed(count);
      yield buffer.subarray(0, count);
    }
  } finally {
    await file.close();
  }
}

/** Plain bytes are read from page to page. */
const PAGES: Cuts = { from: 0, every: 64 * 1024 };

/** For who is done with a piece before he asks for the next: all are read into buffers of the pool, one at a time. */
export class LentBlob implements Pieces<'lent'> {
  readonly tenure = 'lent';
  readonly #range: BlobRange;
  readonly #buffers: BufferPool;
  #position: number;
  #file: OpenFile | undefined;
  #buffer: Buffer | undefined;
  #closed = false;

  constructor(range: BlobRange, buffers: BufferPool = bodyBuffers) {
    this.#range = range;
    this.#position = range.start;
    this.#buffers = buffers;
  }

  async next(): Promise<Buffer | undefined> {
    const { id, end } = this.#range;
    if (this.#closed) return undefined;
    this.#giveBack();
    this.#file ??= await opened(this.#range);
    const left = end - this.#position;
    if (left <= 0) return undefined;
    const buffer = this.#buffers.take(left);
    this.#buffer = buffer;
    const bytes = pieceLength(this.#range, this.#position, buffer.length);
    const count = await this.#file.read(buffer.subarray(0, bytes), this.#position);
    if (count === 0) throw new BlobTruncated(id, end);
    this.#position += count;
    return buffer.subarray(0, count);
  }

  async close(): Promise<void> {
    this.#giveBack();
    const file = this.#file;
    this.#file = undefined;
    this.#closed = true;
    await file?.close();
  }

  #giveBack(): void {
    if (this.#buffer === undefined) return;
    this.#buffers.giveBack(this.#buffer);
    this.#buffer = undefined;
  }
}

/** Bytes of the piece at a position: up to the last cut that fits in the buffer. */
function pieceLength({ end, cuts = PAGES }: BlobRange, position: number, room: number): number {
  const left = end - position;
  if (left <= room) return left;
  const cut = cuts.from + Math.floor((position + room - cuts.from) / cuts.every) * cuts.every;
  return cut > position ? cut - position : room;
}

/** Opens the file, and sees that it is the one that was written as far as its kind and its size tell. */
async function opened(range: BlobRange): Promise<OpenFile> {
  const file = await openedFile(range);
  try {
    await checkSize(file, range);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function openedFile({ fs, path, id }: BlobRange): Promise<OpenFile> {
  try {
    return await fs.open(path);
  } catch (error) {
    if (isNoSuchFile(error)) throw new BlobMissing(id);
    if (codeOf(error) === 'ELOOP') throw new BlobAltered(id, 'is a symbolic link instead of a file');
    // A socket.
    if (codeOf(error) === 'ENXIO') throw new BlobAltered(id, 'is no regular file');
    throw error;
  }
}

async function checkSize(file: OpenFile, { id, end, size }: BlobRange): Promise<void> {
  const found = await file.size();
  if (found === undefined) throw new BlobAltered(id, 'is no regular file');
  if (found < end) throw new BlobTruncated(id, end);
  if (size !== undefined && found !== size) throw new BlobAltered(id, `has ${found} bytes instead of ${size}`);
}
