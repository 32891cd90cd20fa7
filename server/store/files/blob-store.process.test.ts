import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  describeBlobStore,
  from,
  inPieces,
  listed,
  read,
  someBlobId,
} from '../../../test/support/store/blob-store.conformance.ts';
import { systemFailure } from '../../../test/support/store/system-failure.ts';
import { temporaryFolder } from '../../../test/support/store/temporary-folder.ts';
import type { BlobFileSystem } from './file-system.ts';
import { openFilesBlobStore } from './blob-store.ts';
import { nodeFileSystem } from './node-file-system.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;

describeBlobStore('files', {
  open: async () => {
    folder = await temporaryFolder();
    return openFilesBlobStore(folder.path);
  },
  clean: () => folder.remove(),
});

/** A disk on which nothing more can be written. */
const fullFileSystem: BlobFileSystem = {
  ...nodeFileSystem,
  async create(path, how) {
    const file = await nodeFileSystem.create(path, how);
    return {
      isDirect: file.isDirect,
      write: () => Promise.reject(systemFailure('ENOSPC')),
      writeAt: () => Promise.reject(systemFailure('EDQUOT')),
      truncate: (length) => file.truncate(length),
      syncData: () => file.syncData(),
      close: () => file.close(),
    };
  },
};

/** Chunks that begin at a page in shared memory, like those of uploads. `released` counts. */
function sharedChunks(bytes: Buffer, size: number) {
  const memory = Buffer.from(new SharedArrayBuffer(bytes.length));
  bytes.copy(memory);
  let released = 0;
  async function* all(): AsyncIterable<Buffer> {
    for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(memory.subarray(at, at + size));
  }
  const release = () => {
    released += 1;
  };
  return { all, release, released: () => released };
}

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

  describe('with chunks whose memory is reused', () => {
    const page = 4096;
    it.each([
      ['whole pages', 64 * page, 16 * page],
      ['whole pages and an end', 64 * page + 123, 16 * page],
      ['no pages', 100_000, 777],
    ])('writes %s and releases all', async (_name, size, chunk) => {
      const bytes = randomBytes(size);
      const { all, release, released } = sharedChunks(bytes, chunk);
      const store = openFilesBlobStore(folder.path);
      const id = someBlobId();
      expect(await store.write(id, all(), { release })).toEqual({ size });
      expect((await read(store, id, 0, size)).equals(bytes)).toBe(true);
      expect(released()).toBe(Math.ceil(size / chunk));
    });

    it('releases what it took and leaves nothing when the body fails', async () => {
      const { all, release, released } = sharedChunks(Buffer.alloc(3 * page), page);
      const store = openFilesBlobStore(folder.path);
      async function* failing() {
        yield* all();
        throw new Error('the client went away');
      }
      await expect(store.write(someBlobId(), failing(), { release })).rejects.toThrow('the client went away');
      expect(released()).toBe(3);
      expect(await listed(store)).toEqual([]);
    });

    it('says so when the disk is full, and takes its half back', async () => {
      const { all, release, released } = sharedChunks(Buffer.alloc(5 * page), page);
      const store = openFilesBlobStore(folder.path, { fs: fullFileSystem });
      await expect(store.write(someBlobId(), all(), { release })).rejects.toMatchObject({ code: 'full' });
      expect(released()).toBeGreaterThan(0);
      expect(await listed(store)).toEqual([]);
    });
  });

  it('refuses an id that would leave its folder', async () => {
    const store = openFilesBlobStore(folder.path);
    const id = '../../etc/passwd' as ReturnType<typeof someBlobId>;
    expect(() => store.read(id, { start: 0, end: 1 })).toThrow(TypeError);
    await expect(store.write(id, from([]))).rejects.toThrow(TypeError);
  });

  it('says so when the disk is full, and takes its half back', async () => {
    const store = openFilesBlobStore(folder.path, { fs: fullFileSystem });
    await expect(store.write(someBlobId(), inPieces(Buffer.alloc(3_000_000), 1_000_000))).rejects.toMatchObject({
      name: 'StoreError',
      code: 'full',
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

  it('notices a truncated blob', async () => {
    const store = openFilesBlobStore(folder.path);
    const id = someBlobId();
    await store.write(id, from([Buffer.alloc(1000)]));
    await truncate(join(folder.path, id.slice(-2), id), 500);
    await expect(read(store, id, 0, 1000)).rejects.toMatchObject({ code: 'blob-truncated' });
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

describe('a process that may write files of 1 MiB only', () => {
  it.each(['large', 'packed'])('has no room for a %s body, and says why', async (kind) => {
    const own = await temporaryFolder();
    const script = `
      const { openFilesBlobStore } = await import(${JSON.stringify(new URL('blob-store.ts', import.meta.url).href)});
      const store = openFilesBlobStore(process.env.FOLDER);
      const body = (async function* () { yield Buffer.alloc(3_000_000); })();
      const written = process.env.KIND === 'packed'
        ? store.segments.write(body, { length: 3_000_000 })
        : store.write('0'.repeat(32), body);
      await written.catch(({ code, message }) => console.log(code + ': ' + message));
    `;
    // Blocks of 512 bytes, or of 1,024 in some shells.
    const limited = ['-c', 'ulimit -f 1024; exec "$0" --input-type=module -e "$1"', process.execPath, script];
    const env = { ...process.env, FOLDER: own.path, KIND: kind };
    const { stdout } = await promisify(execFile)('sh', limited, { env });
    await own.remove();
    expect(stdout).toMatch(/^full: no space is left for blobs: the file is larger than this process/);
  });
});

describe('a blob whose file was replaced', () => {
  const id = someBlobId();

  async function replaced(by: (path: string) => Promise<unknown>) {
    const own = await temporaryFolder();
    const store = openFilesBlobStore(own.path);
    await store.write(id, from([Buffer.from('stored')]));
    const path = join(own.path, id.slice(-2), id);
    await rename(path, join(own.path, 'before'));
    await by(path);
    const chunks = store.read(id, { start: 0, end: 3, size: 6 });
    try {
      return await chunks.next();
    } finally {
      await chunks.close();
      await own.remove();
    }
  }

  it.each([
    ['a symbolic link', (path: string) => symlink(join(dirname(path), '..', 'before'), path), 'is a symbolic link'],
    ['a folder', (path: string) => mkdir(path), 'is no regular file'],
    ['a longer file', (path: string) => writeFile(path, 'stored!'), 'has 7 bytes instead of 6'],
    ['a shorter file', (path: string) => writeFile(path, 'store'), 'has 5 bytes instead of 6'],
    ['an empty file', (path: string) => writeFile(path, ''), 'ends before byte 3'],
  ])('by %s gives no byte', async (_, by, message) => {
    await expect(replaced(by)).rejects.toThrow(message);
  });

  it('by a pipe gives no byte, and waits for no writer', async () => {
    await expect(replaced((path) => promisify(execFile)('mkfifo', [path]))).rejects.toThrow('is no regular file');
  });
});
