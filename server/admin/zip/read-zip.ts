import { crc32, inflateRawSync } from 'node:zlib';
import { encryptedFlag, headerSizes, methods, signatures, type ZipEntry } from './zip-format.ts';

export class ZipError extends Error {
  override readonly name = 'ZipError';
}

export interface ZipLimits {
  readonly entries: number;
  /** Of all contents together, unpacked. Bytes. */
  readonly size: number;
}

/**
 * The files of an archive; folders are left out. Throws a `ZipError` for what is no zip file, is damaged, or holds more than the
 * limits allow. Sizes that the archive claims are not believed: unpacking stops at the limit. Nothing is written anywhere, and names
 * that lead out of the archive are refused all the same.
 */
export function readZip(archive: Buffer, limits: ZipLimits): ZipEntry[] {
  const { count, offset } = readEnd(archive);
  if (count > limits.entries) throw new ZipError(`it holds ${count} files, more than ${limits.entries}`);
  const entries: ZipEntry[] = [];
  let at = offset;
  let left = limits.size;
  for (let index = 0; index < count; index += 1) {
    const { entry, next } = readCentral(archive, at);
    at = next;
    if (entry.name.endsWith('/')) continue;
    const content = unpack(archive, entry, left);
    left -= content.length;
    entries.push({ name: entry.name, content });
  }
  return entries;
}

/** A comment of up to 64 KiB may follow it. */
const longestTail = headerSizes.end + 0xffff;

function readEnd(archive: Buffer): { readonly count: number; readonly offset: number } {
  for (let at = archive.length - headerSizes.end; at >= Math.max(0, archive.length - longestTail); at -= 1) {
    if (archive.readUInt32LE(at) !== signatures.end) continue;
    return { count: archive.readUInt16LE(at + 10), offset: archive.readUInt32LE(at + 16) };
  }
  throw new ZipError('it is no zip file');
}

interface Central {
  readonly name: string;
  readonly method: number;
  readonly crc: number;
  readonly packedSize: number;
  readonly size: number;
  readonly offset: number;
}

function readCentral(archive: Buffer, at: number): { readonly entry: Central; readonly next: number } {
  const header = slice(archive, at, headerSizes.central);
  if (header.readUInt32LE(0) !== signatures.central) throw new ZipError('its list of files is damaged');
  const nameSize = header.readUInt16LE(28);
  const name = slice(archive, at + headerSizes.central, nameSize).toString();
  if (leadsOut(name)) throw new ZipError(`it holds a name that leads out of it: ${JSON.stringify(name.slice(0, 100))}`);
  if ((header.readUInt16LE(8) & encryptedFlag) !== 0) throw new ZipError(`${name} is encrypted`);
  return {
    entry: {
      name,
      method: header.readUInt16LE(10),
      crc: header.readUInt32LE(16),
      packedSize: header.readUInt32LE(20),
      size: header.readUInt32LE(24),
      offset: header.readUInt32LE(42),
    },
    next: at + headerSizes.central + nameSize + header.readUInt16LE(30) + header.readUInt16LE(32),
  };
}

function leadsOut(name: string): boolean {
  return /^[/\\]|^[A-Za-z]:|\\|\0/.test(name) || name.split('/').includes('..');
}

function unpack(archive: Buffer, { name, method, crc, packedSize, offset }: Central, limit: number): Buffer {
  const local = slice(archive, offset, headerSizes.local);
  if (local.readUInt32LE(0) !== signatures.local) throw new ZipError(`${name} is not where the archive says`);
  const start = offset + headerSizes.local + local.readUInt16LE(26) + local.readUInt16LE(28);
  const packed = slice(archive, start, packedSize);
  const content = method === methods.stored ? packed : inflated(name, method, packed, limit);
  if (content.length > limit) throw tooLarge();
  if (crc32(content) !== crc) throw new ZipError(`${name} is damaged: its checksum differs`);
  return content;
}

function inflated(name: string, method: number, packed: Buffer, limit: number): Buffer {
  if (method !== methods.deflated)
    throw new ZipError(`${name} is packed by a method that is not known here (${method})`);
  try {
    return inflateRawSync(packed, { maxOutputLength: limit + 1 });
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge();
    throw new ZipError(`${name} cannot be unpacked`, { cause: error });
  }
}

function tooLarge(): ZipError {
  return new ZipError('what it holds is larger than may be imported at once');
}

function slice(archive: Buffer, at: number, size: number): Buffer {
  if (at + size > archive.length) throw new ZipError('it ends too early');
  return archive.subarray(at, at + size);
}
