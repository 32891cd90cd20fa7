import { mkdir, readdir, readFile, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeBlobStore, from, inPieces, listed, read, someBlobId } from '../blob-store.conformance.ts';
import { BlobTruncated } from '../blob-store.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import type { BlobFileSystem } from './blob-file-system.ts';
import { openFilesBlobStore } from './files-blob-store.ts';
import { nodeFileSystem } from './node-file-system.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;

describeBlobStore('files', {
  open: async () => {
    folder = await temporaryFolder();
    return openFilesBlobStore(folder.path);
  },
  clean: () => folder.remove(),
});

describe('the files blob store', () => {
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder.remove());

  it('keeps blobs and their folders from other users', async () => {
    const id = someBlobId();
    await openFilesBlobStore(folder.path).write(id, from([Buffer.from('x')]));
    const below = join(folder.path, id.slice(-2));
    expect((await stat(below)).mode & 0o777).toBe(0o700);
    expect((await stat(join(below, id))).mode & 0o777).toBe(0o600);
  });

  it('writes every piece in its place', async () => {
    const id = someBlobId();
    await openFilesBlobStore(folder.path).write(id, inPieces(Buffer.alloc(3_000_000, 'abc'), 100_001));
    expect((await readFile(join(folder.path, id.slice(-2), id))).equals(Buffer.alloc(3_000_000, 'abc'))).toBe(true);
  });

  it('refuses an id that would leave its folder', async () => {
    const store = openFilesBlobStore(folder.path);
    const id = '../../etc/passwd' as ReturnType<typeof someBlobId>;
    expect(() => store.read(id, { start: 0, end: 1 })).toThrow(TypeError);
    await expect(store.write(id, from([]))).rejects.toThrow(TypeError);
  });

  it('says so when the disk is full, and takes its half back', async () => {
    const full: BlobFileSystem = {
      ...nodeFileSystem,
      async create(path) {
        const file = await nodeFileSystem.create(path);
        return {
          write: () => Promise.reject(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })),
          syncData: () => file.syncData(),
          close: () => file.close(),
        };
      },
    };
    const store = openFilesBlobStore(folder.path, { fs: full });
    await expect(store.write(someBlobId(), inPieces(Buffer.alloc(3_000_000), 1_000_000))).rejects.toMatchObject({
      name: 'StoreUnavailable',
      reason: 'full',
    });
    expect(await listed(store)).toEqual([]);
  });

  it('takes the blob back when its name cannot be flushed', async () => {
    let syncs = 0;
    const failing: BlobFileSystem = {
      ...nodeFileSystem,
      // The first flush is of the fan-out folder's own name.
      syncFolder: (path) =>
        (syncs += 1) === 1 ? nodeFileSystem.syncFolder(path) : Promise.reject(new Error('input/output error')),
    };
    const id = someBlobId();
    const store = openFilesBlobStore(folder.path, { fs: failing });
    await expect(store.write(id, from([Buffer.from('x')]))).rejects.toThrow('input/output error');
    expect(await readdir(join(folder.path, id.slice(-2)))).toEqual([]);
  });

  it('notices a blob that somebody cut', async () => {
    const store = openFilesBlobStore(folder.path);
    const id = someBlobId();
    await store.write(id, from([Buffer.alloc(1000)]));
    await truncate(join(folder.path, id.slice(-2), id), 500);
    await expect(read(store, id, 0, 1000)).rejects.toThrow(BlobTruncated);
  });

  it('lists only what has a blob’s name', async () => {
    await mkdir(join(folder.path, 'ab', 'stranger'), { recursive: true });
    await mkdir(join(folder.path, 'lost+found'));
    expect(await listed(openFilesBlobStore(folder.path))).toEqual([]);
  });

  it('tells the free space', async () => {
    const space = await openFilesBlobStore(folder.path).space();
    expect(space !== undefined && space.free > 0 && space.total >= space.free).toBe(true);
  });
});
