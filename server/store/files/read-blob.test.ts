import { describe, expect, it } from 'vitest';
import { BufferPool } from '../../streams/body-memory.ts';
import { someBlobId } from '../../../test/support/store/blob-store.conformance.ts';
import { BlobChunks } from './read-blob.ts';
import { SimulatedDisk } from '../../../test/support/store/simulated-disk.ts';

const id = someBlobId();
const path = '/blobs/file';

/** A file on a disk that counts how often it was opened and closed. */
async function file(contents: string) {
  const disk = new SimulatedDisk('/blobs');
  const written = await disk.create(path);
  await written.write([Buffer.from(contents)]);
  const counts = { opened: 0, closed: 0 };
  const fs = Object.assign(Object.create(disk) as SimulatedDisk, {
    async open(asked: string) {
      const opened = await disk.open(asked);
      counts.opened += 1;
      return {
        read: (into: Buffer, position: number) => opened.read(into, position),
        size: () => opened.size(),
        close: () => {
          counts.closed += 1;
          return opened.close();
        },
      };
    },
  });
  return { fs, counts };
}

const pool = () => new BufferPool({ large: 8, maxLarge: 1, small: 4, keptSmall: 1 });

async function lent(contents: string, start = 0, end = contents.length) {
  const { fs, counts } = await file(contents);
  const buffers = pool();
  return { pieces: new BlobChunks({ open: () => fs.open(path), id, start, end }, buffers), buffers, counts };
}

describe('a blob whose chunks are borrowed', () => {
  it('comes in pieces as large as the buffers', async () => {
    const { pieces: chunks } = await lent('abcdefghijklm', 1);
    expect([String(await chunks.next()), String(await chunks.next()), await chunks.next()]).toEqual([
      'bcdefghi',
      'jklm',
      undefined,
    ]);
  });

  it('comes in pieces that end at cuts, where the buffers have room for them', async () => {
    const { fs } = await file('abcdefghijklmnop');
    const cut = async (from: number, every: number, start = 0) => {
      const chunks = new BlobChunks({ open: () => fs.open(path), id, start, end: 16, cuts: { from, every } }, pool());
      const given: string[] = [];
      for (let chunk = await chunks.next(); chunk !== undefined; chunk = await chunks.next()) given.push(String(chunk));
      await chunks.close();
      return given;
    };
    expect(await cut(1, 3)).toEqual(['abcdefg', 'hijklm', 'nop']);
    expect(await cut(1, 3, 2)).toEqual(['cdefghij', 'klmnop']);
    expect(await cut(1, 9)).toEqual(['a', 'bcdefghi', 'jklmnop']);
  });

  it('uses one buffer again and again', async () => {
    const { pieces: chunks } = await lent('abcdefghijklmnop');
    const first = await chunks.next();
    const second = await chunks.next();
    expect(second?.buffer).toBe(first?.buffer);
  });

  it('holds no more than one buffer', async () => {
    const { pieces: chunks, buffers } = await lent('abcdefghijklmnop');
    await chunks.next();
    await chunks.next();
    expect(buffers.lent).toBe(1);
  });

  it('has two readers in two buffers', async () => {
    const buffers = pool();
    const { fs } = await file('abcdefghijklmnop');
    const range = { open: () => fs.open(path), id, start: 0, end: 16 };
    const [one, other] = [new BlobChunks(range, buffers), new BlobChunks({ ...range, start: 8 }, buffers)];
    expect([String(await one.next()), String(await other.next())]).toEqual(['abcdefgh', 'ijkl']);
  });

  it('opens nothing before it is read', async () => {
    const { pieces: chunks, counts } = await lent('abc');
    await chunks.close();
    expect(counts).toEqual({ opened: 0, closed: 0 });
  });

  it.each([0, 1, 2, 3])('gives buffer and file back when it is closed after %i pieces of 2', async (count) => {
    const { pieces: chunks, buffers, counts } = await lent('abcdefghijkl');
    for (let n = 0; n < count; n += 1) await chunks.next();
    await chunks.close();
    await chunks.close();
    expect([buffers.lent, counts.closed]).toEqual([0, counts.opened]);
  });

  it('gives nothing once it is closed', async () => {
    const { pieces: chunks, counts } = await lent('abc');
    await chunks.close();
    expect([await chunks.next(), counts.opened]).toEqual([undefined, 0]);
  });

  it('gives nothing of a file that ends early, and has given its buffer back', async () => {
    const { pieces: chunks, buffers, counts } = await lent('abc', 0, 20);
    await expect(chunks.next()).rejects.toMatchObject({ code: 'blob-truncated' });
    await chunks.close();
    expect([buffers.lent, counts]).toEqual([0, { opened: 1, closed: 1 }]);
  });

  it('fails where there is no file', async () => {
    const chunks = new BlobChunks({ open: () => new SimulatedDisk('/blobs').open(path), id, start: 0, end: 1 }, pool());
    await expect(chunks.next()).rejects.toMatchObject({ code: 'blob-missing' });
  });
});
