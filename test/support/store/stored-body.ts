import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { BlobId } from '../../../server/store/blob-store.ts';
import { placeOf } from '../../../server/store/packed-id.ts';

/** The file of a blob below the folder of blobs, and the place of its bytes in it. `length` is undefined where they are all of it. */
export function fileOf(
  folder: string,
  blob: BlobId,
): { readonly path: string; readonly offset: number; readonly length: number | undefined } {
  const place = placeOf(blob);
  if (place === undefined) return { path: join(folder, blob.slice(-2), blob), offset: 0, length: undefined };
  return { path: join(folder, 'segments', place.segment), offset: place.offset, length: place.length };
}

/** Reads the stored bytes of a blob. */
export async function readStored(folder: string, blob: BlobId): Promise<Buffer> {
  const { path, offset, length } = fileOf(folder, blob);
  const file = await open(path, 'r');
  try {
    const bytes = Buffer.alloc(length ?? (await file.stat()).size);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, offset);
    return bytes.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Overwrites stored bytes of a blob from a position on. */
export async function overwriteStored(folder: string, blob: BlobId, bytes: Buffer, position = 0): Promise<void> {
  const { path, offset, length } = fileOf(folder, blob);
  const file = await open(path, 'r+');
  try {
    const within = length === undefined ? bytes : bytes.subarray(0, length - position);
    await file.write(within, 0, within.length, offset + position);
  } finally {
    await file.close();
  }
}
