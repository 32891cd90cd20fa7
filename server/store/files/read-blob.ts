import { systemErrorCode } from '../../../platform/errors/system-error.ts';
import { bodyBuffers, type BufferPool } from '../../streams/body-memory.ts';
import type { Chunks } from '../../streams/chunks.ts';
import { type BlobId, type Cuts, blobMissing, blobTruncated, blobAltered } from '../blob-store.ts';
import { isNoSuchFile, type OpenFile } from './file-system.ts';

/** A range of the file of a blob: the bytes from `start` to `end` (exclusive). */
interface FileRange {
  readonly id: BlobId;
  /** Opens the file. Throws the errors of `BlobFileSystem.open`. */
  readonly open: () => Promise<OpenFile>;
  readonly start: number;
  readonly end: number;
  /** The size of the whole file, if the caller knows it. */
  readonly size?: number;
  /** Preferred ends of chunks. */
  readonly cuts?: Cuts;
}

/** Reads of plain bytes end at multiples of this, which is a whole number of pages. */
const PAGES: Cuts = { from: 0, every: 64 * 1024 };

/**
 * Reads a blob into one buffer of the pool at a time. The file is opened by the first `next`, and closed by `close`. A read fills a
 * buffer of 512 KiB: reads of 64 KiB got 1.3 GB/s out of a disk that larger ones got 3.0 out of.
 */
export class BlobChunks implements Chunks<'lent'> {
  readonly ownership = 'lent';
  readonly #range: FileRange;
  readonly #buffers: BufferPool;
  #position: number;
  #file: OpenFile | undefined;
  #buffer: Buffer | undefined;
  #closed = false;

  constructor(range: FileRange, buffers: BufferPool = bodyBuffers) {
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
    const bytes = chunkLength(this.#range, this.#position, buffer.length);
    const count = await this.#file.read(buffer.subarray(0, bytes), this.#position);
    if (count === 0) throw blobTruncated(id, end);
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

/** Returns the length of the chunk at a position: up to the last cut that fits in the buffer. */
function chunkLength({ end, cuts = PAGES }: FileRange, position: number, room: number): number {
  const left = end - position;
  if (left <= room) return left;
  const cut = cuts.from + Math.floor((position + room - cuts.from) / cuts.every) * cuts.every;
  return cut > position ? cut - position : room;
}

/** Opens the file and checks its kind and size. */
async function opened(range: FileRange): Promise<OpenFile> {
  const file = await openedFile(range);
  try {
    await checkSize(file, range);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function openedFile({ open, id }: FileRange): Promise<OpenFile> {
  try {
    return await open();
  } catch (error) {
    if (isNoSuchFile(error)) throw blobMissing(id);
    if (systemErrorCode(error) === 'ELOOP') throw blobAltered(id, 'is a symbolic link instead of a file');
    // The file is a socket.
    if (systemErrorCode(error) === 'ENXIO') throw blobAltered(id, 'is no regular file');
    throw error;
  }
}

async function checkSize(file: OpenFile, { id, end, size }: FileRange): Promise<void> {
  const found = await file.size();
  if (found === undefined) throw blobAltered(id, 'is no regular file');
  if (found < end) throw blobTruncated(id, end);
  if (size !== undefined && found !== size) throw blobAltered(id, `has ${found} bytes instead of ${size}`);
}
