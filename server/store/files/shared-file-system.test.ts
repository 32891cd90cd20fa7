import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  describeBlobStore,
  from,
  inPieces,
  read,
  someBlobId,
} from '../../../test/support/store/blob-store.conformance.ts';
import { type BlobId, type BlobStore, type SegmentId } from '../blob-store.ts';
import { packedId } from '../packed-id.ts';
import { systemFailure } from '../../../test/support/store/system-failure.ts';
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
    return left >= 0 ? Promise.reject(systemFailure(code, 'open')) : act(...args);
  };
}

/** A handle that shows the size of the file at its opening, as the cache of NFS does. */
async function openAsOfNow(path: string) {
  const file = await nodeFileSystem.open(path);
  const size = (await file.size()) ?? 0;
  const read = (into: Buffer, at: number) => file.read(into.subarray(0, Math.max(0, size - at)), at);
  return { read, size: () => Promise.resolve(size), close: () => file.close() };
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

  it('shows a packed body that another server appended after this one opened its segment', async () => {
    const writer = over({}).segments;
    const reader = over({ open: openAsOfNow });
    for (const content of [bytes.subarray(0, 5_000), bytes.subarray(5_000, 15_000)]) {
      const { length } = content;
      const packed = await writer?.write(from([Buffer.from(content)]), { length });
      expect((await read(reader, packed?.id as BlobId, 0, length)).equals(content)).toBe(true);
    }
  });

  it('closes each handle of a segment once, where several went stale under their readers', async () => {
    const { segments } = over({});
    const ids: BlobId[] = [];
    for (let n = 0; n < 8; n += 1) {
      const packed = await segments?.write(from([Buffer.alloc(5_000, n)]), { length: 5_000 });
      ids.push(packed?.id as BlobId);
    }
    const handles: { closes: number }[] = [];
    // Each reader has one handle that goes stale: none opens its second one before all have their first.
    const allOpen = Promise.withResolvers<void>();
    const store = over({
      async open(path) {
        const file = await nodeFileSystem.open(path);
        const handle = { closes: 0 };
        const isFirst = handles.push(handle) <= ids.length;
        if (handles.length === ids.length) allOpen.resolve();
        await allOpen.promise;
        const readNow = (into: Buffer, at: number) => file.read(into, at);
        return {
          read: failing(isFirst ? 1 : 0, 'ESTALE', readNow),
          size: () => file.size(),
          async close() {
            handle.closes += 1;
            await file.close();
          },
        };
      },
    });
    const read5000 = async (id: BlobId, n: number) =>
      expect((await read(store, id, 0, 5_000)).equals(Buffer.alloc(5_000, n))).toBe(true);
    await Promise.all(ids.map(read5000));
    await expect.poll(() => handles.map(({ closes }) => closes)).toEqual(Array(16).fill(1));
  });

  it('does not look again for the segment of a body that a copy has as a file', async () => {
    const packed = packedId({ segment: 'ff00000000000000' as SegmentId, offset: 0, length: 9 });
    await over({}).write(packed, from([Buffer.from('some text')]));
    expect((await read(over({}), packed, 0, 9)).toString()).toBe('some text');
    expect(pauses).toEqual([]);
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
    await expect(fileSystemOf(`${folder.path}/blobs`)).rejects.toThrow(
      /blobs cannot be used \(no such file or folder\): mount/,
    );
  });
});
