import { randomBytes } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { filledLayer, makeOlder } from '../support/maintenance/filled-layer.ts';
import { contentsOf, versionedLayer } from '../support/maintenance/versioned-layer.ts';
import { body, put, testLayer } from '../support/objects/test-layer.ts';
import { overwriteStored, readStored } from '../support/store/stored-body.ts';
import type { BlobId } from '../../server/store/blob-store.ts';
import { openDataFolder } from '../../server/store/data-folder.ts';
import { openFilesBlobStore } from '../../server/store/files/blob-store.ts';
import { decodeKey, within } from '../../server/store/keys.ts';
import { openLmdbRecordStore } from '../../server/store/lmdb/record-store.ts';
import { placeOf } from '../../server/store/packed-id.ts';
import type { RecordStore } from '../../server/store/record-store.ts';

/** A data folder with an object of every kind, an upload, and `more` small and large objects. */
export async function makeDataFolder(path: string, more = 0): Promise<void> {
  const folder = await openDataFolder(path);
  const records = openLmdbRecordStore({ folder: folder.recordsFolder });
  try {
    const blobs = openFilesBlobStore(folder.blobsFolder);
    const { layer } = await filledLayer({ records: records as never, blobs: blobs as never });
    // A body of an older server, whose block sums its first reader kept, and one that was not read since.
    await makeOlder({ records, blobs }, 'large');
    await body(layer, 'bucket', 'large');
    await makeOlder({ records, blobs }, 'replaced', 'crc');
    for (let index = 0; index < more; index += 1) {
      await layer.putObject(put('bucket', `many/${index}`, randomBytes(index % 5 === 0 ? 200_000 : index)));
    }
  } finally {
    await records.close();
    await folder.close();
  }
}

/** Adds buckets with versions of every kind to a data folder. */
export async function addVersions(path: string): Promise<void> {
  await withStores(path, (stores) => versionedLayer({ ...stores, keys: versionKeys }, 'versions'));
}

/** Reads everything that clients can see of the versions in a data folder. */
export function versionsIn(path: string): Promise<unknown> {
  return withStores(path, (stores) =>
    contentsOf(testLayer({ ...stores, keys: versionKeys }), ['versions', 'locked', 'suspended']),
  );
}

/** Of all folders of a test: what one server has encrypted, the next one reads. */
const versionKeys = testLayer().keys;

async function withStores<T>(path: string, work: (stores: { records: never; blobs: never }) => Promise<T>): Promise<T> {
  const folder = await openDataFolder(path);
  const records = openLmdbRecordStore({ folder: folder.recordsFolder });
  try {
    return await work({ records: records as never, blobs: openFilesBlobStore(folder.blobsFolder) as never });
  } finally {
    await records.close();
    await folder.close();
  }
}

/** Changes one byte of every body of so many bytes, where no server runs: of `LARGE` there are some. */
export async function damageBodies(path: string, size: number): Promise<number> {
  let damaged = await damageBlobs(path, size);
  await withStores(path, async ({ records }) => {
    for await (const item of (records as RecordStore).scan(within('r'))) {
      const blob = item.kind === 'entry' ? (String(decodeKey(item.key)[1]) as BlobId) : undefined;
      if (blob === undefined || placeOf(blob)?.length !== size) continue;
      const bytes = await readStored(join(path, 'blobs'), blob).catch(() => undefined);
      if (bytes === undefined) continue;
      bytes[100] = (bytes[100] ?? 0) ^ 1;
      await overwriteStored(join(path, 'blobs'), blob, bytes);
      damaged += 1;
    }
  });
  return damaged;
}

/** Changes one byte of every blob of so many bytes that is a file of its own. */
export async function damageBlobs(path: string, size: number): Promise<number> {
  let damaged = 0;
  for (const name of await readdir(join(path, 'blobs'), { recursive: true, withFileTypes: true })) {
    if (!name.isFile() || name.name.endsWith('.json')) continue;
    const file = join(name.parentPath, name.name);
    const bytes = await readFile(file);
    if (bytes.length !== size) continue;
    bytes[100] = (bytes[100] ?? 0) ^ 1;
    await writeFile(file, bytes);
    damaged += 1;
  }
  return damaged;
}

/** Files of blobs, half-written ones too. */
export async function countBlobs(path: string): Promise<number> {
  try {
    const names = await readdir(join(path, 'blobs'), { recursive: true, withFileTypes: true });
    return names.filter((name) => name.isFile() && !name.name.endsWith('.json')).length;
  } catch {
    // Not made yet, or a folder of it.
    return 0;
  }
}
