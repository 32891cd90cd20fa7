import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  describeBlobStore,
  from,
  inPieces,
  read,
  someBlobId,
} from '../../../test/support/store/blob-store.conformance.ts';
import { type BlobId, type BlobStore } from '../blob-store.ts';
import { temporaryFolder } from '../../../test/support/store/temporary-folder.ts';
import type { BlobFileSystem } from './file-system.ts';
import { openFilesBlobStore } from './blob-store.ts';
import { nodeFileSystem } from './node-file-system.ts';
import { fileSystemOf, sharedFileSystem } from './shared-file-system.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
const pauses: number[] = [];

function pause(ms: number): Promise<void> {
  pauses.push(ms);
  return Promise.resolve();
}

/** A store over a file system of another machine that behaves as the test says. */
function over(odd: Partial<BlobFileSystem>): BlobStore {
  return openFilesBlobStore(folder.path, { fs: sharedFileSystem({ ...nodeFileSystem, ...odd }, pause) });
}

/** Fails the first `times` calls as the system does. */
function failing<A extends unknown[], T>(
  times: number,
  code: string,
  act: (...args: A) => Promise<T>,
): (...args: A) => Promise<T> {
  let left = times;
  return (...args) => {
    left -= 1;
    return left >= 0 ? Promise.reject(Object.assign(new Error(code), { code })) : act(...args);
  };
}

describeBlobStore('files on a shared file system', {
  open: async () => {
    folder = await temporaryFolder();
    return over({});
  },
  clean: () => folder.remove(),
});

describe('a shared file system', () => {
  const bytes = randomBytes(2_500_000);
  let id: BlobId;

  beforeEach(async () => {
    folder = await temporaryFolder();
    id = someBlobId();
    pauses.length = 0;
  });
  afterEach(() => folder.remove());

  it('shows a blob that another server wrote to two servers at once', async () => {
    await over({}).write(id, inPieces(bytes, 65_536));
    expect((await read(over({}), id, 0, bytes.length)).equals(bytes)).toBe(true);
  });

  it.each(['ENOENT', 'ESTALE'])('is asked again when it says %s of a blob that is there', async (code) => {
    await over({}).write(id, from([bytes]));
    const store = over({ open: failing(3, code, (path: string) => nodeFileSystem.open(path)) });
    expect((await read(store, id, 0, bytes.length)).equals(bytes)).toBe(true);
  });

  it('is believed at last that a blob is missing', async () => {
    await expect(read(over({}), id, 0, 1)).rejects.toMatchObject({ code: 'blob-missing' });
    expect(pauses).toEqual([100, 500, 1500]);
  });

  it('opens a file again whose handle went stale', async () => {
    await over({}).write(id, from([bytes]));
    let reads = 0;
    const store = over({
      async open(path) {
        const file = await nodeFileSystem.open(path);
        const stale = failing(reads === 0 ? 1 : 0, 'ESTALE', (into: Buffer, at: number) => file.read(into, at));
        reads += 1;
        return { read: stale, size: () => file.size(), close: () => file.close() };
      },
    });
    expect((await read(store, id, 0, bytes.length)).equals(bytes)).toBe(true);
    expect(reads).toBe(2);
  });

  it('has renamed what it says it cannot find, when the target is there', async () => {
    const store = over({
      async rename(one, other) {
        await nodeFileSystem.rename(one, other);
        throw Object.assign(new Error('sent twice'), { code: 'ENOENT' });
      },
    });
    await store.write(id, from([bytes]));
    expect((await read(store, id, 0, bytes.length)).equals(bytes)).toBe(true);
  });

  it('need not be able to flush a folder', async () => {
    await over({ syncFolder: failing(9, 'EINVAL', () => Promise.resolve()) }).write(id, from([bytes]));
    expect((await read(over({}), id, 0, 10)).length).toBe(10);
  });

  it('is not believed when flushing a folder fails', async () => {
    const store = over({ syncFolder: failing(9, 'EIO', () => Promise.resolve()) });
    await expect(store.write(id, from([bytes]))).rejects.toThrow('EIO');
  });

  it('is not taken for one when it is this machine’s own', async () => {
    expect(await fileSystemOf(folder.path)).toBe(nodeFileSystem);
  });

  it('must be mounted', async () => {
    await expect(fileSystemOf(`${folder.path}/blobs`)).rejects.toThrow(/blobs cannot be used \(ENOENT\): mount/);
  });
});
