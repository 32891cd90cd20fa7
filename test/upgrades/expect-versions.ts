import { expect } from 'vitest';
import { openDataFolder } from '../../server/store/data-folder.ts';
import { openFilesBlobStore } from '../../server/store/files/blob-store.ts';
import { openLmdbRecordStore } from '../../server/store/lmdb/record-store.ts';
import { versionsOf } from '../support/maintenance/versioned-layer.ts';
import { body, put, testLayer } from '../support/objects/test-layer.ts';

const kinds = ['small', 'empty', 'pages', 'blob', 'parts'];

/** Expects that the objects of a stored folder are the null versions of their keys once their bucket gets versions. */
export async function expectVersions(path: string): Promise<void> {
  const folder = await openDataFolder(path);
  const records = openLmdbRecordStore({ folder: folder.recordsFolder });
  try {
    const blobs = openFilesBlobStore(folder.blobsFolder);
    const test = testLayer({ records: records as never, blobs: blobs as never });
    const { layer } = test;
    await layer.putBucketVersioning('plain', { status: 'Enabled' });
    for (const key of kinds) {
      const before = await body(layer, 'plain', key);
      expect((await layer.headObject('plain', key)).versionId).toBe('null');
      const { versionId } = await layer.putObject(put('plain', key, 'newer'));
      const found = (await versionsOf(test, 'plain')).filter((version) => version.key === key);
      expect(found.map((version) => version.versionId)).toEqual([versionId, 'null']);
      // The null version becomes current again with the body that an older server wrote.
      await layer.deleteObject('plain', key, { versionId });
      expect((await body(layer, 'plain', key)).equals(before), key).toBe(true);
      await layer.deleteObject('plain', key);
      await expect(layer.headObject('plain', key)).rejects.toMatchObject({ code: 'NoSuchKey' });
    }
  } finally {
    await records.close();
    await folder.close();
  }
}
