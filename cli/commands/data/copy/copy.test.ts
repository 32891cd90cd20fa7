import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { partSizeFor } from '../../../s3/multipart-upload.ts';
import { fileSource, rangeBody, type ByteSource } from './byte-source.ts';
import { contentTypeOf, parseAttributes } from './object-headers.ts';
import { Downloads } from './download.ts';
import { multipartOf } from './upload.ts';
import { keyUnder, lastName, nameUnder, pathUnder } from './copy-destination.ts';

const mebibyte = 1_024 * 1_024;

describe('names of copies', () => {
  it.each([
    ['a folder keeps its name', nameUnder('x/dir', 'a/b'), 'dir/a/b'],
    ['a folder with a slash gives its contents', nameUnder('x/dir/', 'a/b'), 'a/b'],
    ['the last part of a key', lastName('a/b'), 'b'],
    ['the last part of a folder', lastName('a/b/'), 'b/'],
    ['a key under a prefix', keyUnder('p', 'n'), 'p/n'],
    ['a key under a prefix with a slash', keyUnder('p/', 'n'), 'p/n'],
    ['a key in a bucket', keyUnder('', 'n'), 'n'],
    ['a path under a folder', pathUnder('/f', 'a/b'), '/f/a/b'],
    ['the path of a folder marker', pathUnder('/f', 'a/b/'), '/f/a/b'],
  ])('%s', (_, actual, expected) => {
    expect(actual).toBe(expected);
  });

  it.each(['../x', 'a/../../x', '/x', 'a//b', './x', '..', 'a/\0'])('the key %j becomes no path', (key) => {
    expect(() => pathUnder('/f', key)).toThrow('cannot become a path');
  });

  it.each([String.raw`a\..\b`, 'c:x'])('the key %j becomes no path on Windows', (key) => {
    expect(() => pathUnder('/f', key, 'win32')).toThrow('cannot become a path');
  });
});

describe('parts', () => {
  it('are of 16 MiB above 64 MiB', () => {
    expect(multipartOf({}, {})).toEqual({ partSize: 16 * mebibyte, above: 64 * mebibyte });
  });

  it('are of the size that the environment names', () => {
    expect(multipartOf({ MC_UPLOAD_MULTIPART_SIZE: '8MiB' }, {})).toEqual({
      partSize: 8 * mebibyte,
      above: 8 * mebibyte,
    });
  });

  it.each(['4MiB', '6GiB', 'x', '-1'])('cannot be of %s', (text) => {
    expect(() => multipartOf({ COFFER_UPLOAD_MULTIPART_SIZE: text }, {})).toThrow('5MiB to 5GiB');
  });

  it('are switched off', () => {
    expect(multipartOf({}, { disableMultipart: true }).above).toBe(Infinity);
  });

  it.each([1, 64 * mebibyte, 160_000 * mebibyte, 5 * 1_024 ** 4])('are never more than 10,000 for %i bytes', (size) => {
    const part = partSizeFor(size, 16 * mebibyte);
    expect(Math.ceil(size / part)).toBeLessThanOrEqual(10_000);
    expect(part).toBeGreaterThanOrEqual(16 * mebibyte);
  });
});

describe('attributes', () => {
  it('are headers that S3 knows, and metadata', () => {
    expect(parseAttributes('Cache-Control=a=b; colour = blue ;X-Amz-Meta-X=1;')).toEqual({
      'cache-control': 'a=b',
      'x-amz-meta-colour': 'blue',
      'x-amz-meta-x': '1',
    });
  });

  it.each(['colour', '=x', 'a b=c', 'a=ü', 'a=x\r\nhost: y'])('refuse %j', (text) => {
    expect(() => parseAttributes(text)).toThrow('Invalid');
  });

  it('have a content type by the name', () => {
    expect([contentTypeOf('a/b.HTML'), contentTypeOf('a.b/c')]).toEqual(['text/html', 'application/octet-stream']);
  });
});

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'coffer-copy-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe('bytes', () => {
  it('of a file that became shorter are an error, since the server would wait for the rest', async () => {
    await withFolder(async (folder) => {
      await writeFile(join(folder, 'f'), 'abc');
      const body = rangeBody(fileSource(join(folder, 'f'), 5), 0, 5, () => undefined);
      await expect(Array.fromAsync(body.open())).rejects.toThrow('changed while it was read');
    });
  });

  it('that are sent again are counted once', async () => {
    await withFolder(async (folder) => {
      await writeFile(join(folder, 'f'), 'abcdef');
      let counted = 0;
      const body = rangeBody(fileSource(join(folder, 'f'), 6), 1, 4, (bytes) => (counted += bytes));
      for (const _ of [1, 2]) expect(Buffer.concat(await Array.fromAsync(body.open())).toString()).toBe('bcd');
      expect(counted).toBe(3);
    });
  });

  it('that do not all come leave no file', async () => {
    await withFolder(async (folder) => {
      const source: ByteSource = {
        size: 6,
        async *open() {
          yield Buffer.from('abc');
          throw new Error('broken off');
        },
      };
      const downloads = new Downloads({ signal: new AbortController().signal, stdout: new PassThrough() });
      await expect(downloads.write(source, join(folder, 'sub/f'), () => undefined)).rejects.toThrow('broken off');
      expect(await readdir(join(folder, 'sub'))).toEqual([]);
    });
  });
});
