import { AdminError } from './admin-error.ts';
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';

/**
 * The part of the zip format for archives of small files: no encryption, no multiple parts, no 64-bit sizes.
 *
 * @see https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
 */
const signatures = { local: 0x04034b50, central: 0x02014b50, end: 0x06054b50 } as const;

/** Bytes before the name. */
const headerSizes = { local: 30, central: 46, end: 22 } as const;

const methods = { stored: 0, deflated: 8 } as const;

/** Names are UTF-8. */
const utf8Flag = 0x0800;

/** The entry is encrypted, which is not supported. */
const encryptedFlag = 0x0001;

export interface ZipEntry {
  readonly name: string;
  readonly content: Buffer;
}

/** Writes a zip file with deflated entries. */
export function writeZip(entries: readonly ZipEntry[], time: Date): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let offset = 0;
  for (const { name, content } of entries) {
    const facts = { name: Buffer.from(name), content, packed: deflateRawSync(content), time };
    const local = Buffer.concat([localHeader(facts), facts.name, facts.packed]);
    centrals.push(Buffer.concat([centralHeader(facts, offset), facts.name]));
    locals.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(centrals);
  return Buffer.concat([...locals, central, endRecord(entries.length, central.length, offset)]);
}

interface Facts {
  readonly name: Buffer;
  readonly content: Buffer;
  readonly packed: Buffer;
  readonly time: Date;
}

function localHeader(facts: Facts): Buffer {
  const header = Buffer.alloc(headerSizes.local);
  header.writeUInt32LE(signatures.local, 0);
  writeShared(header, 4, facts);
  return header;
}

function centralHeader(facts: Facts, offset: number): Buffer {
  const header = Buffer.alloc(headerSizes.central);
  header.writeUInt32LE(signatures.central, 0);
  header.writeUInt16LE(20, 4); // made by version 2.0
  writeShared(header, 6, facts);
  header.writeUInt32LE(offset, 42);
  return header;
}

/** Writes the fields that both headers share. */
function writeShared(header: Buffer, at: number, { name, content, packed, time }: Facts): void {
  header.writeUInt16LE(20, at); // needs version 2.0: deflate
  header.writeUInt16LE(utf8Flag, at + 2);
  header.writeUInt16LE(methods.deflated, at + 4);
  header.writeUInt16LE(dosTime(time), at + 6);
  header.writeUInt16LE(dosDate(time), at + 8);
  header.writeUInt32LE(crc32(content), at + 10);
  header.writeUInt32LE(packed.length, at + 14);
  header.writeUInt32LE(content.length, at + 18);
  header.writeUInt16LE(name.length, at + 22);
}

function endRecord(count: number, size: number, offset: number): Buffer {
  const record = Buffer.alloc(headerSizes.end);
  record.writeUInt32LE(signatures.end, 0);
  record.writeUInt16LE(count, 8);
  record.writeUInt16LE(count, 10);
  record.writeUInt32LE(size, 12);
  record.writeUInt32LE(offset, 16);
  return record;
}

/** The resolution is two seconds. */
function dosTime(time: Date): number {
  return (time.getUTCHours() << 11) | (time.getUTCMinutes() << 5) | (time.getUTCSeconds() >> 1);
}

/** Years count from 1980. */
function dosDate(time: Date): number {
  return (Math.max(0, time.getUTCFullYear() - 1980) << 9) | ((time.getUTCMonth() + 1) << 5) | time.getUTCDate();
}

interface ZipLimits {
  readonly entries: number;
  /** Bytes of all uncompressed contents together. */
  readonly size: number;
}

/**
 * Reads the files of an archive and skips folders. Throws an `AdminError` for a file that is no zip, is damaged, or exceeds the limits. It
 * does not trust declared sizes: decompression stops at the limit. Nothing is written to disk, and names with `..` are refused anyway.
 */
export function readZip(archive: Buffer, limits: ZipLimits): ZipEntry[] {
  const { count, offset } = readEnd(archive);
  if (count > limits.entries) throw invalidArchive(`it holds ${count} files, more than ${limits.entries}`);
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

/** A comment of up to 64 KiB can follow it. */
const longestTail = headerSizes.end + 0xffff;

function readEnd(archive: Buffer): { readonly count: number; readonly offset: number } {
  for (let at = archive.length - headerSizes.end; at >= Math.max(0, archive.length - longestTail); at -= 1) {
    if (archive.readUInt32LE(at) !== signatures.end) continue;
    return { count: archive.readUInt16LE(at + 10), offset: archive.readUInt32LE(at + 16) };
  }
  throw invalidArchive('it is no zip file');
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
  if (header.readUInt32LE(0) !== signatures.central) throw invalidArchive('its list of files is damaged');
  const nameSize = header.readUInt16LE(28);
  const name = slice(archive, at + headerSizes.central, nameSize).toString();
  if (leadsOut(name))
    throw invalidArchive(`it holds a name that leads out of it: ${JSON.stringify(name.slice(0, 100))}`);
  if ((header.readUInt16LE(8) & encryptedFlag) !== 0) throw invalidArchive(`${name} is encrypted`);
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
  if (local.readUInt32LE(0) !== signatures.local) throw invalidArchive(`${name} is not where the archive says`);
  const start = offset + headerSizes.local + local.readUInt16LE(26) + local.readUInt16LE(28);
  const packed = slice(archive, start, packedSize);
  const content = method === methods.stored ? packed : inflated(name, method, packed, limit);
  if (content.length > limit) throw tooLarge();
  if (crc32(content) !== crc) throw invalidArchive(`${name} is damaged: its checksum differs`);
  return content;
}

function inflated(name: string, method: number, packed: Buffer, limit: number): Buffer {
  if (method !== methods.deflated)
    throw invalidArchive(`${name} is packed by a method that is not known here (${method})`);
  try {
    return inflateRawSync(packed, { maxOutputLength: limit + 1 });
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge();
    throw invalidArchive(`${name} cannot be unpacked`, error);
  }
}

function tooLarge(): AdminError {
  return invalidArchive('what it holds is larger than may be imported at once');
}

function slice(archive: Buffer, at: number, size: number): Buffer {
  if (at + size > archive.length) throw invalidArchive('it ends too early');
  return archive.subarray(at, at + size);
}

export function invalidArchive(why: string, cause?: unknown): AdminError {
  return new AdminError('XCofferInvalidRequest', `The archive cannot be imported: ${why}.`, { cause });
}
