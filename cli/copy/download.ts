import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { ByteSource } from './byte-source.ts';

/**
 * Writes a source to a file that appears under its name only when it is whole; what a failure leaves half-written is removed. A
 * device or pipe is written to as it is.
 */
export async function download(source: ByteSource, path: string, count: (bytes: number) => void): Promise<void> {
  const existing = await stat(path).catch(() => undefined);
  if (existing !== undefined && !existing.isFile() && !existing.isDirectory()) {
    await writeAll(await open(path, 'w'), source, count);
    return;
  }
  await mkdir(dirname(path), { recursive: true });
  const temporary = join(dirname(path), `.${basename(path).slice(0, 200)}.${randomBytes(6).toString('hex')}.part`);
  try {
    await writeAll(await open(temporary, 'wx'), source, count);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function writeAll(file: FileHandle, source: ByteSource, count: (bytes: number) => void): Promise<void> {
  try {
    for await (const bytes of source.open(0, source.size)) {
      for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at)).bytesWritten;
      count(bytes.length);
    }
  } finally {
    await file.close();
  }
}
