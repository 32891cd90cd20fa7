/**
 * Opens the data folders it is sent, as a server does, and answers what they show. A process of its own: a damaged LMDB file may
 * end it, and that is an answer too.
 */
import { noKeySource } from '../../server/encryption/no-key-source.ts';
import { createObjectLayer } from '../../server/objects/objects.ts';
import type { ObjectLayer } from '../../server/objects/object-layer.ts';
import { openDataFolder } from '../../server/store/data-folder.ts';
import { openFilesBlobStore } from '../../server/store/files/files-blob-store.ts';
import { openLmdbRecordStore } from '../../server/store/lmdb/lmdb-record-store.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { contentOf } from '../crash/witness.ts';
import { BUCKET } from '../crash/writers.ts';

/** Each listed object with its content, or the error that reading it gave. */
export type Shown = Readonly<Record<string, string>>;

process.on('message', (path: string) => {
  void inspect(path).then(
    (shown) => process.send?.({ shown }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});

async function inspect(path: string): Promise<Shown> {
  const folder = await openDataFolder(path);
  const records = openLmdbRecordStore({ folder: folder.recordsFolder });
  try {
    const blobs = openFilesBlobStore(folder.blobsFolder);
    return await everything(createObjectLayer({ records, blobs, keys: noKeySource }));
  } finally {
    await records.close();
    await folder.close();
  }
}

async function everything(objects: ObjectLayer): Promise<Shown> {
  const shown: Record<string, string> = {};
  let after: string | undefined = '';
  while (after !== undefined) {
    const page = await pageAfter(objects, after);
    for (const { key } of page?.objects ?? []) shown[key] = await contentShown(objects, key);
    after = page?.next;
  }
  return shown;
}

async function pageAfter(objects: ObjectLayer, after: string) {
  try {
    return await objects.listObjects({ bucket: BUCKET, prefix: '', delimiter: '', after, limit: 100 });
  } catch (error) {
    // The power was cut before the bucket was made.
    if (error instanceof S3Error && error.code === 'NoSuchBucket') return undefined;
    throw error;
  }
}

async function contentShown(objects: ObjectLayer, key: string): Promise<string> {
  try {
    const object = await objects.getObject(BUCKET, key);
    return contentOf(
      Buffer.concat((await Array.fromAsync(object.open({ start: 0, end: object.info.size }))) as Buffer[]),
    );
  } catch (error) {
    return `unreadable: ${String(error)}`;
  }
}
