import { deflateRawSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readZip, writeZip } from './zip.ts';
import { isAdminError } from './admin-error.ts';

const time = new Date('2026-11-21T20:00:00Z');
const limits = { entries: 10, size: 100_000 };
const zipOf = (name: string, content: string) => writeZip([{ name, content: Buffer.from(content) }], time);
/** An archive with a file of another name than the writer takes. */
const renamed = async (written: string, name: string) =>
  Buffer.from((await zipOf(written, 'x')).toString('latin1').replaceAll(written, name), 'latin1');
const refusal = async (archive: Buffer) => {
  try {
    await readZip(archive, limits);
  } catch (error) {
    return isAdminError(error) ? /: (.*)\.$/s.exec(error.message)?.[1] : `not a refusal: ${String(error)}`;
  }
  return 'none';
};

describe('an archive', () => {
  it('is read as it was written', async () => {
    const entry = fc.record({
      name: fc.stringMatching(/^[a-zé/]{1,20}[a-z]$/).filter((name) => !name.startsWith('/') && !name.includes('//')),
      content: fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes)),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 10 }), async (entries) => {
        expect(await readZip(await writeZip(entries, time), limits)).toEqual(entries);
      }),
    );
  });

  it('may be empty, hold folders, and end with a comment', async () => {
    expect(await readZip(await writeZip([], time), limits)).toEqual([]);
    expect(await readZip(await renamed('folder_', 'folder/'), limits)).toEqual([]);
    const archive = await zipOf('a', 'x');
    const comment = Buffer.from('made by hand');
    archive.writeUInt16LE(comment.length, archive.length - 2);
    const entries = await readZip(Buffer.concat([archive, comment]), limits);
    expect(entries.map(({ name }) => name)).toEqual(['a']);
  });

  it.each([
    ['../a', /invalid relative path/],
    ['a/../../b', /invalid relative path/],
    ['/etc/passwd', /absolute path/],
    ['C:/x', /absolute path/],
    ['a\\b', /invalid characters/],
    ['\\x', /invalid characters/],
  ])('is refused for the name %s', async (name, message) => {
    expect(await refusal(await renamed('n'.repeat(name.length), name))).toMatch(message);
  });

  it('is refused with more files or bytes than may be', async () => {
    const many = await writeZip(
      Array.from({ length: 11 }, (_, at) => ({ name: `f${at}`, content: Buffer.alloc(0) })),
      time,
    );
    expect(await refusal(many)).toMatch(/11 files, more than 10/);
    expect(await refusal(await zipOf('zeros', '0'.repeat(limits.size)))).toBe('none');
    expect(await refusal(await zipOf('zeros', '0'.repeat(limits.size + 1)))).toMatch(/larger than/);
  });

  it('cannot hide a bomb by claiming that it is small', async () => {
    const bomb = await zipOf('bomb', '0'.repeat(1_000_000));
    bomb.writeUInt32LE(10, bomb.readUInt32LE(bomb.length - 6) + 24);
    bomb.writeUInt32LE(10, 22);
    expect(await refusal(bomb)).toMatch(/too many bytes/);
  });

  it('cannot pass the limit by files that overlap', async () => {
    const one = await zipOf('a', '0'.repeat(60_000));
    const start = one.readUInt32LE(one.length - 6);
    const [entries, end] = [one.subarray(start, one.length - 22), Buffer.from(one.subarray(one.length - 22))];
    end.writeUInt16LE(2, 10);
    end.writeUInt16LE(2, 8);
    end.writeUInt32LE(2 * entries.length, 12);
    expect(await refusal(Buffer.concat([one.subarray(0, one.length - 22), entries, end]))).toMatch(/larger than/);
  });

  it('is refused where it is damaged, wherever that is', async () => {
    const archive = await zipOf('name', JSON.stringify({ some: 'content', of: ['some', 'length'] }));
    for (let length = 0; length < archive.length; length += 1) {
      expect(await refusal(archive.subarray(0, length))).not.toMatch(/none|not a refusal/);
    }
    for (let at = 0; at < archive.length; at += 1) {
      const broken = Buffer.from(archive);
      broken.writeUInt8(broken.readUInt8(at) ^ 0xff, at);
      expect(await refusal(broken)).not.toMatch(/not a refusal/);
    }
    const changed = Buffer.from(archive);
    const body = 30 + 'name'.length;
    deflateRawSync(Buffer.from('{}')).copy(changed, body);
    expect(await refusal(changed)).not.toBe('none');
  });
});
