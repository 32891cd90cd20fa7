import { existsSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { key } from '../keys.ts';
import { commitId } from '../../../test/support/store/patient.ts';
import { temporaryFolder } from '../../../test/support/store/temporary-folder.ts';
import { CommitQueue } from './commit.ts';
import { openEnvironment } from './environment.ts';
import { openLmdbRecordStore } from './record-store.ts';
import { StoreError } from '../store-error.ts';
import { commitsHavePlaces } from '../../../test/support/store/places-of-commits.ts';

commitsHavePlaces('unchecked');

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder.remove());

const failure = (error: unknown) => new StoreError('full', 'full', { cause: error });

/** A queue over a disk that is full until the ballast is given up. */
function queueOnFullDisk() {
  const { root, tables } = openEnvironment(folder.path);
  const disk = { full: false, ballast: true, tight: false };
  const ballast = {
    release() {
      const had = disk.ballast;
      disk.ballast = false;
      if (had) disk.full = false;
      disk.tight = true;
      return had;
    },
    isTight: () => disk.tight,
  };
  const begin = root.childTransaction.bind(root);
  root.childTransaction = (action) =>
    begin(() => {
      const result = action();
      if (disk.full) throw Object.assign(new Error('No space left on device'), { code: 28 });
      return result;
    });
  const queue = new CommitQueue(root, tables, async (cause) => failure(cause), { ballast });
  const put = (name: string) => queue.commit({ id: commitId(), put: [{ key: key(name), value: Buffer.alloc(10) }] });
  const remove = (name: string) => queue.commit({ id: commitId(), delete: [key(name)] });
  return { queue, disk, put, remove, close: () => root.close() };
}

it('a commit is refused, and ends nothing, when LMDB has given up the file before it began', async () => {
  const { root, tables } = openEnvironment(folder.path);
  const ballast = {
    release: () => false,
    isTight: () => {
      throw Object.assign(new Error('MDB_PANIC'), { code: -30_795 });
    },
  };
  const queue = new CommitQueue(root, tables, async (cause) => failure(cause), { ballast });
  await expect(queue.commit({ id: commitId(), delete: [key('a')] })).rejects.toMatchObject({
    cause: { message: 'MDB_PANIC' },
  });
  // The next one is refused as well, and does not wait for the one before.
  await expect(queue.commit({ id: commitId(), delete: [key('a')] })).rejects.toMatchObject({
    cause: { message: 'MDB_PANIC' },
  });
  await root.close();
});

describe('room for deletes', () => {
  it('is given up when the disk is full: the deletes of the group are committed, its puts refused', async () => {
    const { disk, put, remove, close } = queueOnFullDisk();
    await put('a');
    disk.full = true;
    const outcomes = await Promise.allSettled([put('b'), remove('a'), put('c')]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected']);
    await close();
  });

  it('is for what makes room, and for nothing else, until there is room again', async () => {
    const { queue, disk, put, remove, close } = queueOnFullDisk();
    await put('a');
    disk.full = true;
    await remove('a');
    await expect(put('b')).rejects.toMatchObject({ code: 'full' });
    await expect(remove('b')).resolves.toMatchObject({ kind: 'committed' });
    const leading = { id: commitId(), put: [{ key: key('c'), value: Buffer.alloc(10) }], freesSpace: true };
    await expect(queue.commit(leading)).resolves.toMatchObject({ kind: 'committed' });
    disk.tight = false;
    await expect(put('b')).resolves.toMatchObject({ kind: 'committed' });
    await close();
  });

  it('is gone once: a disk that is full without it refuses deletes too, and answers them', async () => {
    const { disk, remove, close } = queueOnFullDisk();
    disk.ballast = false;
    disk.full = true;
    await expect(remove('a')).rejects.toMatchObject({ code: 'full' });
    await close();
  });
});

describe('the LMDB record store with ballast', () => {
  it('keeps a file beside its own, which other threads find', async () => {
    const first = openLmdbRecordStore({ folder: folder.path, ballast: true });
    const second = openLmdbRecordStore({ folder: folder.path, ballast: true });
    expect(existsSync(join(folder.path, 'ballast'))).toBe(true);
    await Promise.all([first.close(), second.close()]);
  });

  it('counts pages that deletes left as free space', async () => {
    const store = openLmdbRecordStore({ folder: folder.path, ballast: true });
    const keys = Array.from({ length: 100 }, (_, index) => key(String(index)));
    const reusable = async () => {
      const { bavail, bsize } = statfsSync(folder.path);
      return ((await store.space?.())?.free ?? 0) - bavail * bsize;
    };
    await store.commit({ id: commitId(), put: keys.map((name) => ({ key: name, value: Buffer.alloc(100_000) })) });
    const before = await reusable();
    await store.commit({ id: commitId(), delete: keys });
    // Others use the disk meanwhile.
    expect((await reusable()) - before).toBeGreaterThan(9_000_000);
    await store.close();
  });
});
