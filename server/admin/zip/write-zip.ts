import { crc32, deflateRawSync } from 'node:zlib';
import { headerSizes, methods, signatures, utf8Flag, type ZipEntry } from './zip-format.ts';

/** A zip file of these, deflated. */
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

/** What both headers say, in the same order. */
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

/** Two seconds are the finest it can say. */
function dosTime(time: Date): number {
  return (time.getUTCHours() << 11) | (time.getUTCMinutes() << 5) | (time.getUTCSeconds() >> 1);
}

/** Years begin at 1980. */
function dosDate(time: Date): number {
  return (Math.max(0, time.getUTCFullYear() - 1980) << 9) | ((time.getUTCMonth() + 1) << 5) | time.getUTCDate();
}
