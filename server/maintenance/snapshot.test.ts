import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, stat, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { body, put, randomBody, testLayer, type TestLayer } from '../../test/support/objects/test-layer.ts';
import { isReadOnly, setReadOnly } from '../store/commits.ts';
import { within as recordsWithin } from '../store/keys.ts';
import { readUnpromoted } from '../store/promotion.ts';
import { snapshotDifferences } from './snapshot-files.ts';
import {
  holdGarbageCollection,
  isGarbageCollectionHeld,
  removeQueuedBlobs,
} from '../objects/garbage-collection/garbage-collection.ts';
import { openDataFolder, type DataFolder } from '../store/data-folder.ts';
import { openFilesBlobStore } from '../store/files/blob-store.ts';
import { openLmdbRecordStore } from '../store/lmdb/record-store.ts';
import type { BlobStore } from '../store/blob-store.ts';
import type { RecordStore } from '../store/record-store.ts';
import { temporaryFolder } from '../../test/support/store/temporary-folder.ts';
import type { Issue } from './verify/issue.ts';
import { checkRestoreTarget, restoreSnapshot, takeSnapshot } from './snapshot.ts';
import { allBlockSums, filledLayer, makeOlder } from '../../test/support/maintenance/filled-layer.ts';
import { contentsOf, versionedLayer } from '../../test/support/maintenance/versioned-layer.ts';
import { verifyStores } from './verify/verify-stores.ts';

let base: Awaited<ReturnType<typeof temporaryFolder>>;
let folder: string;
let opened: DataFolder;
let records: RecordStore;
let test: TestLayer;

interface Stores {
  readonly records: RecordStore;
  readonly blobs: BlobStore;
}

beforeEach(async () => {
  base = await temporaryFolder();
  folder = join(base.path, 'data');
  opened = await openDataFolder(folder);
  records = openLmdbRecordStore({ folder: opened.recordsFolder });
  test = await filledLayer({ records: records as never, blobs: openFilesBlobStore(opened.blobsFolder) as never });
});
afterEach(async () => {
  await records.close();
  await opened.close();
  await base.remove();
});

async function verified(path: string): Promise<Issue[]> {
  return within(path, (stores) =>
    Array.fromAsync(verifyStores({ ...stores, now: Date.now(), bodies: true, graceMs: 0 })),
  );
}

async function within<T>(path: string, work: (stores: Stores) => Promise<T>): Promise<T> {
  const data = await openDataFolder(path);
  const store = openLmdbRecordStore({ folder: data.recordsFolder });
  try {
    return await work({ records: store, blobs: openFilesBlobStore(data.blobsFolder) });
  } finally {
    await store.close();
    await data.close();
  }
}

describe('a snapshot', () => {
  it('is a data folder in which nothing is wrong', async () => {
    const out = join(base.path, 'out');
    expect(await takeSnapshot({ records, folder, out })).toEqual({ blobs: 6, missing: 0 });
    expect(await verified(out)).toEqual([]);
    expect((await stat(join(out, 'records', 'data.mdb'))).mode & 0o777).toBe(0o600);
    expect(await readdir(base.path)).toEqual(['data', 'out']);
  });

  it('removes what killed snapshots left behind, and nothing else', async () => {
    const places = join(base.path, 'snapshots');
    const named = (name: string, digit: number): string =>
      join(places, `${name}.partial-${digit}0000000-0000-4000-8000-000000000000`);
    const [abandoned, alive, foreign] = [named('monday', 1), named('tuesday', 2), named('wednesday', 3)];
    for (const [path, entry] of [
      [abandoned, 'blobs'],
      [alive, 'blobs'],
      [foreign, 'photos'],
    ] as const) {
      await mkdir(join(path, entry), { recursive: true });
      await writeFile(join(path, entry, 'x'), 'x');
    }
    const hourAgo = new Date(Date.now() - 3_600_000);
    await utimes(abandoned, hourAgo, hourAgo);
    await utimes(foreign, hourAgo, hourAgo);
    await takeSnapshot({ records, folder, out: join(places, 'thursday') });
    const left = (await readdir(places)).map((name) => join(places, name)).sort();
    expect(left).toEqual([join(places, 'thursday'), alive, foreign]);
  });

  it('has every version and delete marker, and a data folder that is made of it has them too', async () => {
    const versions = await temporaryFolder();
    const data = await openDataFolder(join(versions.path, 'data'));
    const stored = openLmdbRecordStore({ folder: data.recordsFolder });
    const from = await versionedLayer({
      records: stored as never,
      blobs: openFilesBlobStore(data.blobsFolder) as never,
    });
    const out = join(base.path, 'out');
    await takeSnapshot({ records: stored, folder: join(versions.path, 'data'), out });
    const contents = await contentsOf(from);
    await stored.close();
    await data.close();
    await versions.remove();
    expect(await verified(out)).toEqual([]);
    const restored = join(base.path, 'restored');
    await restoreSnapshot(out, restored);
    expect(await verified(restored)).toEqual([]);
    const read = ({ records: r, blobs: b }: Stores) =>
      contentsOf(testLayer({ records: r as never, blobs: b as never, keys: from.keys }));
    expect(await within(restored, read)).toEqual(contents);
  });

  it(
    'is consistent when it is taken under load, and after what it refers to was removed',
    { timeout: 180_000 },
    async () => {
      const finished = new AbortController();
      const load = Promise.all(
        Array.from({ length: 4 }, async (_, writer) => {
          for (let round = 0; !finished.signal.aborted; round += 1) {
            const name = `load-${writer}-${round % 3}`;
            await test.layer.putObject(put('bucket', name, randomBody(round % 2 === 0 ? 10 : 200_000)));
            if (round % 5 === 0) await test.layer.deleteObject('bucket', name);
            await removeQueuedBlobs({ records, blobs: test.blobs, now: Date.now(), delay: 0 });
          }
        }),
      );
      const outs = Array.from({ length: 5 }, (_, index) => join(base.path, `out-${index}`));
      for (const out of outs) expect(await takeSnapshot({ records, folder, out })).toMatchObject({ missing: 0 });
      finished.abort();
      await load;
      await removeQueuedBlobs({ records, blobs: test.blobs, now: Date.now() + 100_000, delay: 0 });
      for (const out of outs) expect(await verified(out)).toEqual([]);
    },
  );

  it('holds removals back while it is taken, and no longer', async () => {
    await test.layer.deleteObject('bucket', 'large');
    let during: unknown;
    const drained: Promise<unknown>[] = [];
    await takeSnapshot({
      records,
      folder,
      out: join(base.path, 'out'),
      onProgress: () => void drained.push(removeQueuedBlobs({ records, blobs: test.blobs, now: Date.now(), delay: 0 })),
    });
    during = await drained[0];
    expect(during).toEqual({ removed: 0 });
    expect(await removeQueuedBlobs({ records, blobs: test.blobs, now: Date.now(), delay: 0 })).toEqual({ removed: 2 });
  });

  it('is not written among the records or the bodies', async () => {
    for (const part of ['records', 'blobs']) {
      const taking = takeSnapshot({ records, folder, out: join(folder, part, 'monday') });
      await expect(taking).rejects.toThrow(`is among the ${part} of the data folder`);
    }
  });

  it('is not written over something', async () => {
    await expect(takeSnapshot({ records, folder, out: folder })).rejects.toThrow('exists already');
  });

  it('leaves nothing behind when it fails', async () => {
    const stop = new AbortController();
    stop.abort(new Error('stopped'));
    await expect(takeSnapshot({ records, folder, out: join(base.path, 'out'), signal: stop.signal })).rejects.toThrow(
      'stopped',
    );
    expect(await readdir(base.path)).toEqual(['data']);
  });
});

describe('a restored snapshot', () => {
  it('is what was there, and shares nothing with the snapshot', async () => {
    const out = join(base.path, 'out');
    await takeSnapshot({ records, folder, out });
    const restored = join(base.path, 'restored');
    await restoreSnapshot(out, restored);
    expect(await verified(restored)).toEqual([]);
    expect((await stat(join(restored, 'records', 'data.mdb'))).nlink).toBe(1);
    expect(await readdir(base.path)).toEqual(['data', 'out', 'restored']);
  });

  it('has all block sums, and those of older bodies when they are read', async () => {
    await makeOlder({ records, blobs: test.blobs }, 'large');
    await makeOlder({ records, blobs: test.blobs }, 'replaced');
    const large = await body(test.layer, 'bucket', 'large');
    const kept = await allBlockSums(records);
    expect(kept.size).toBe(4);
    const [out, restored] = [join(base.path, 'out'), join(base.path, 'restored')];
    await takeSnapshot({ records, folder, out });
    await restoreSnapshot(out, restored);
    // As a server of before left it.
    const file = join(restored, 'format.json');
    const format = JSON.parse(await readFile(file, 'utf8')) as object;
    await writeFile(file, JSON.stringify({ ...format, format: 2 }));
    for (const path of [out, restored]) {
      expect(await within(path, (stores) => allBlockSums(stores.records))).toEqual(kept);
      expect(await verified(path)).toEqual([]);
    }
    await within(restored, async (stores) => {
      const { layer } = testLayer({ ...(stores as object), keys: test.keys });
      expect((await body(layer, 'bucket', 'large')).equals(large)).toBe(true);
      await body(layer, 'bucket', 'replaced');
      expect((await allBlockSums(stores.records)).size).toBe(5);
    });
    expect(await verified(restored)).toEqual([]);
  });

  it('fills a folder that is there in place, as a mount point, also through a link', async () => {
    const out = join(base.path, 'out');
    await takeSnapshot({ records, folder, out });
    const [mounted, link] = [join(base.path, 'mounted'), join(base.path, 'link')];
    await mkdir(join(mounted, 'lost+found'), { recursive: true });
    await symlink(mounted, link);
    const { ino } = await stat(mounted);
    await restoreSnapshot(out, link);
    expect((await stat(mounted)).ino).toBe(ino);
    expect(await verified(mounted)).toEqual([]);
    expect(await readdir(base.path)).toEqual(['data', 'link', 'mounted', 'out']);
  });

  it('is no data folder before it is complete, and what a killed restore left behind is replaced', async () => {
    const out = join(base.path, 'out');
    await takeSnapshot({ records, folder, out });
    const target = join(base.path, 'target');
    await mkdir(join(target, 'blobs'), { recursive: true });
    await writeFile(join(target, 'restore-unfinished'), '');
    await writeFile(join(target, 'blobs', 'half'), 'x');
    await expect(openDataFolder(target)).rejects.toThrow(`a restore to ${target} was not finished`);
    const stop = new AbortController();
    stop.abort(new Error('stopped'));
    await expect(restoreSnapshot(out, target, stop.signal)).rejects.toThrow('stopped');
    expect(await readdir(target)).toEqual([]);
    await restoreSnapshot(out, target);
    expect((await readdir(target)).sort()).toEqual(['blobs', 'format.json', 'records']);
    expect(await verified(target)).toEqual([]);
  });

  it('has nothing of the moment in which it was taken, and must be promoted', async () => {
    await setReadOnly(records, true);
    const hold = await holdGarbageCollection(records, { clock: Date.now, random: randomBytes });
    const [out, restored] = [join(base.path, 'out'), join(base.path, 'restored')];
    await takeSnapshot({ records, folder, out });
    await hold.release();
    await restoreSnapshot(out, restored);
    for (const path of [out, restored]) {
      await within(path, async (stores) => {
        expect(await isReadOnly(stores.records)).toBe(false);
        expect(await Array.fromAsync(stores.records.scan(recordsWithin('hold')))).toEqual([]);
        expect(await readUnpromoted(stores.records)).toMatchObject({ reason: 'restored', taken: expect.any(String) });
        expect(await isGarbageCollectionHeld(stores.records, Date.now())).toBe(true);
      });
    }
    expect(await readUnpromoted(records)).toBeUndefined();
  });

  it('is compared with its checksums before a byte is written', async () => {
    const out = join(base.path, 'out');
    await takeSnapshot({ records, folder, out });
    expect(await snapshotDifferences(out)).toEqual([]);
    await writeFile(join(out, 'format.json'), `${await readFile(join(out, 'format.json'), 'utf8')} `);
    expect(await snapshotDifferences(out)).toEqual([expect.stringContaining('format.json has')]);
  });

  it('refuses a place where nothing can be made before the snapshot is read', async () => {
    const out = join(base.path, 'out');
    await takeSnapshot({ records, folder, out });
    const [dangling, through] = [join(base.path, 'dangling'), join(base.path, 'through')];
    await symlink(join(base.path, 'nowhere'), dangling);
    await symlink(out, through);
    await expect(checkRestoreTarget(out, dangling)).rejects.toThrow('is a link to a folder that does not exist');
    for (const path of [join(out, 'new'), join(out, 'blobs', 'a', 'b'), join(through, 'new')]) {
      await expect(checkRestoreTarget(out, path), path).rejects.toThrow('is within the snapshot');
    }
    await expect(checkRestoreTarget(out, join(folder, 'format.json', 'x'))).rejects.toThrow('is not a folder');
    await checkRestoreTarget(out, join(base.path, 'new', 'folder'));
    await checkRestoreTarget(out, join(base.path, 'outer'));
    expect((await readdir(base.path)).sort()).toEqual(['dangling', 'data', 'out', 'through']);
  });

  it('has large files too, which are copied in chunks', async () => {
    const [out, target] = [join(base.path, 'out'), join(base.path, 'target')];
    await takeSnapshot({ records, folder, out });
    const large = join('blobs', 'zz', 'a-large-one');
    await mkdir(join(out, 'blobs', 'zz'));
    await writeFile(join(out, large), randomBytes(1_000));
    await truncate(join(out, large), 70 * 1024 * 1024);
    await restoreSnapshot(out, target);
    expect((await readFile(join(target, large))).equals(await readFile(join(out, large)))).toBe(true);
  });

  it.each([
    ['its mark', ['restore-unfinished.new']],
    ['its format', ['restore-unfinished', 'format.json.new', 'records/data.mdb']],
    ['its end', ['restore-unfinished', 'format.json', 'records/data.mdb']],
  ])('is repeated where an earlier one ended while it wrote %s', async (_, left) => {
    const [out, target] = [join(base.path, 'out'), join(base.path, 'target')];
    await takeSnapshot({ records, folder, out });
    for (const name of left) {
      await mkdir(dirname(join(target, name)), { recursive: true });
      await writeFile(join(target, name), 'half');
    }
    await restoreSnapshot(out, target);
    expect((await readdir(target)).toSorted()).toEqual(['blobs', 'format.json', 'records']);
    expect(await readFile(join(target, 'format.json'), 'utf8')).toBe(await readFile(join(out, 'format.json'), 'utf8'));
  });

  it('does not replace anything', async () => {
    const out = join(base.path, 'out');
    await takeSnapshot({ records, folder, out });
    await expect(restoreSnapshot(out, folder)).rejects.toThrow('is not empty');
  });
});
