import { deflateRawSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AdminError } from './admin-error.ts';
import { readZip, writeZip } from './zip.ts';

const time = new Date('2026-11-21T20:00:00Z');
const limits = { entries: 10, size: 100_000 };
const zipOf = (name: string, content: string) => writeZip([{ name, content: Buffer.from(content) }], time);
const refusal = (archive: Buffer, changes: Partial<typeof limits> = {}) => {
  try {
    readZip(archive, { ...limits, ...changes });
  } catch (error) {
    return error instanceof AdminError ? /: (.*)\.$/s.exec(error.message)?.[1] : `not a refusal: ${String(error)}`;
  }
  return 'none';
};

describe('an archive', () => {
  it('is read as it was written', () => {
    const entry = fc.record({
      name: fc.stringMatching(/^[a-zé/]{1,20}[a-z]$/).filter((name) => !name.startsWith('/')),
      content: fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes)),
    });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 10 }), (entries) => {
        expect(readZip(writeZip(entries, time), limits)).toEqual(entries);
      }),
    );
  });

  it('may be empty, hold folders, and end with a comment', () => {
    expect(readZip(writeZip([], time), limits)).toEqual([]);
    expect(readZip(zipOf('folder/', ''), limits)).toEqual([]);
    const commented = Buffer.concat([zipOf('a', 'x'), Buffer.from('made by hand')]);
    expect(readZip(commented, limits).map(({ name }) => name)).toEqual(['a']);
  });

  it.each(['../a', 'a/../../b', '/etc/passwd', 'C:/x', 'a\\b', '\\x'])('is refused for the name %s', (name) => {
    expect(refusal(zipOf(name, 'x'))).toMatch(/leads out/);
  });

  it('is refused with more files or bytes than may be', () => {
    const many = writeZip(
      Array.from({ length: 11 }, (_, at) => ({ name: `f${at}`, content: Buffer.alloc(0) })),
      time,
    );
    expect(refusal(many)).toMatch(/11 files, more than 10/);
    expect(refusal(zipOf('zeros', '0'.repeat(limits.size)))).toBe('none');
    expect(refusal(zipOf('zeros', '0'.repeat(limits.size + 1)))).toMatch(/larger than/);
  });

  it('cannot hide a bomb by claiming that it is small', () => {
    const bomb = zipOf('bomb', '0'.repeat(1_000_000));
    const central = bomb.length - 22 - 46 - 4;
    bomb.writeUInt32LE(10, central + 24);
    bomb.writeUInt32LE(10, 22);
    expect(refusal(bomb)).toMatch(/larger than/);
  });

  it('cannot pass the limit by files that overlap', () => {
    const one = zipOf('a', '0'.repeat(60_000));
    const central = one.subarray(one.length - 22 - 46 - 1, one.length - 22);
    const end = Buffer.from(one.subarray(one.length - 22));
    end.writeUInt16LE(2, 10);
    expect(refusal(Buffer.concat([one.subarray(0, one.length - 22), central, end]))).toMatch(/larger than/);
  });

  it('is refused where it is damaged, wherever that is', () => {
    const archive = zipOf('name', JSON.stringify({ some: 'content', of: ['some', 'length'] }));
    for (let length = 0; length < archive.length; length += 1) {
      expect(refusal(archive.subarray(0, length))).not.toMatch(/none|not a refusal/);
    }
    for (let at = 0; at < archive.length; at += 1) {
      const broken = Buffer.from(archive);
      broken.writeUInt8(broken.readUInt8(at) ^ 0xff, at);
      expect(refusal(broken)).not.toMatch(/not a refusal/);
    }
    const changed = Buffer.from(archive);
    const body = 30 + 'name'.length;
    deflateRawSync(Buffer.from('{}')).copy(changed, body);
    expect(refusal(changed)).not.toBe('none');
  });
});
