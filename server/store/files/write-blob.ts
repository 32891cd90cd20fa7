import { fileErrorReason, systemErrorCode } from '../../../platform/errors/system-error.ts';
import type { VolumeSpace } from '../volume-space.ts';
import type { WriteOptions } from '../blob-store.ts';
import type { NewFile } from './file-system.ts';
import { isNoRoom, StoreError } from '../store-error.ts';
import { type PageBuffers, writePages } from './write-pages.ts';

/** Chunks are gathered into writes of this many bytes. One write runs while the next is gathered. */
const WRITE_BYTES = 1024 * 1024;
/** A write has at most this many chunks. A client may send single bytes, whose buffers take more memory than the bytes. */
const MAX_CHUNKS = 1024;

/** Writes a body with chunks of any size, and releases each when it is written. Returns the length of the body. */
async function gatherInto(
  file: Pick<NewFile, 'write'>,
  body: AsyncIterable<Buffer>,
  release: (chunk: Buffer) => void,
): Promise<number> {
  let size = 0;
  let chunks: Buffer[] = [];
  let gathered = 0;
  let writing: Promise<void> = Promise.resolve();
  const write = async (together: readonly Buffer[]) => {
    try {
      await file.write(together);
    } finally {
      for (const chunk of together) release(chunk);
    }
  };
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      gathered += chunk.length;
      size += chunk.length;
      if (gathered < WRITE_BYTES && chunks.length < MAX_CHUNKS) continue;
      await writing;
      writing = write(chunks);
      // The next write awaits this one. Until then the rejection must not count as unhandled.
      writing.catch(() => undefined);
      chunks = [];
      gathered = 0;
    }
  } catch (error) {
    for (const chunk of chunks) release(chunk);
    throw error;
  } finally {
    // The write ends before the file is closed, also if the body failed.
    await writing;
  }
  await write(chunks);
  return size;
}

/**
 * Writes each chunk as it arrives, while the next ones arrive, and releases it when it is written. The caller bounds the number of chunks
 * by the memory that it fills.
 */
async function writeEach(
  file: Pick<NewFile, 'writeAt'>,
  body: AsyncIterable<Buffer>,
  release: (chunk: Buffer) => void,
): Promise<number> {
  let size = 0;
  const writing = new Set<Promise<void>>();
  let failed: { readonly error: unknown } | undefined;
  const write = async (chunk: Buffer, position: number) => {
    try {
      await file.writeAt(chunk, position);
    } catch (error) {
      failed ??= { error };
    } finally {
      release(chunk);
    }
  };
  try {
    for await (const chunk of body) {
      const one = write(chunk, size);
      size += chunk.length;
      writing.add(one);
      void one.then(() => writing.delete(one));
      if (failed !== undefined) break;
    }
  } finally {
    // The writes end before the file is closed, also if the body failed.
    await Promise.all(writing);
  }
  if (failed !== undefined) throw failed.error;
  return size;
}

/**
 * Returns the function that writes a body into a file, or a region of one. It resolves to the length of the body. With `buffers`, bytes after
 * the body up to a page boundary may become zeros.
 */
export function filler(
  body: AsyncIterable<Buffer>,
  { pages = false, release = () => undefined }: WriteOptions,
  buffers?: PageBuffers,
): (file: Pick<NewFile, 'write' | 'writeAt' | 'isDirect'>) => Promise<number> {
  return (file) => {
    if (pages) return writeEach(file, body, release);
    return file.isDirect && buffers !== undefined
      ? writePages(file, body, release, buffers)
      : gatherInto(file, body, release);
  };
}

/** Returns an error of the file system as one of the store. The system has one error for the want of bytes and that of inodes. */
export async function unavailable(error: unknown, space: () => Promise<VolumeSpace>): Promise<unknown> {
  if (!isNoRoom(error)) return error;
  const inodes = await inodesOf(space);
  const reason =
    systemErrorCode(error) === 'ENOSPC' && inodes?.free === 0
      ? `the file system has used up its ${inodes.total} inodes, so that it takes no further file`
      : fileErrorReason(error);
  return new StoreError('full', `no space is left for blobs: ${reason}`, { cause: error });
}

/** A volume that does not tell its room counts as one with inodes. */
async function inodesOf(space: () => Promise<VolumeSpace>): Promise<VolumeSpace['inodes']> {
  try {
    return (await space()).inodes;
  } catch {
    return undefined;
  }
}
