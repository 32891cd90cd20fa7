import { buffer } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import { ZipFile as ZipWriter } from 'yazl';
import { adminError, isAdminError } from './admin-error.ts';
import type { RequestError } from '../../protocol/request-error.ts';

/** A file of an archive. */
export interface ZipEntry {
  readonly name: string;
  readonly content: Buffer;
}

/** Writes a zip file with deflated entries. */
export function writeZip(entries: readonly ZipEntry[], time: Date): Promise<Buffer> {
  const zip = new ZipWriter();
  for (const { name, content } of entries) zip.addBuffer(content, name, { mtime: time, mode: 0o100600 });
  zip.end();
  return buffer(zip.outputStream);
}

interface ZipLimits {
  readonly entries: number;
  /** Bytes of all uncompressed contents together. */
  readonly size: number;
}

/**
 * Reads the files of an archive and skips folders. Throws a `RequestError` for a file that is not a zip, is damaged, or exceeds the limits. A
 * declared size is checked against the limit first, and decompression stops at the declared size. Nothing is written to disk, and names
 * with `..` are refused anyway.
 */
export async function readZip(archive: Buffer, limits: ZipLimits): Promise<ZipEntry[]> {
  try {
    const zip = await fromBufferPromise(archive, { strictFileNames: true });
    if (zip.entryCount > limits.entries) {
      throw invalidArchive(`it holds ${zip.entryCount} files, more than ${limits.entries}`);
    }
    const entries: ZipEntry[] = [];
    let left = limits.size;
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName.endsWith('/')) continue;
      if (entry.uncompressedSize > left) throw invalidArchive('what it holds is larger than may be imported at once');
      const content = await contentOf(zip, entry);
      left -= content.length;
      entries.push({ name: entry.fileName, content });
    }
    return entries;
  } catch (error) {
    if (isAdminError(error)) throw error;
    throw invalidArchive(error instanceof Error ? error.message : 'it cannot be read', error);
  }
}

/** The library checks sizes and names, and no checksum. */
async function contentOf(zip: ZipFile, entry: Entry): Promise<Buffer> {
  const content = await buffer(await zip.openReadStreamPromise(entry));
  if (crc32(content) !== entry.crc32) throw invalidArchive(`${entry.fileName} is damaged: its checksum differs`);
  return content;
}

export function invalidArchive(why: string, cause?: unknown): RequestError {
  return adminError('XCofferInvalidRequest', `The archive cannot be imported: ${why}.`, { cause });
}
