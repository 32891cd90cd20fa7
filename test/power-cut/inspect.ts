/**
 * Opens the data folders it is sent, as a server does, and answers what they show. A process of its own: a damaged LMDB file may
 * end it, and that is an answer too.
 */
import { noKeySource } from '../../server/encryption/key-source.ts';
import { createObjectLayer } from '../../server/objects/objects.ts';
import { verifyStores } from '../../server/maintenance/verify/verify-stores.ts';
import type { ObjectLayer, VersionListing } from '../../server/objects/contract/object-layer.ts';
import type { BlobStore } from '../../server/store/blob-store.ts';
import { openDataFolder } from '../../server/store/data-folder.ts';
import { openFilesBlobStore } from '../../server/store/files/blob-store.ts';
import { openLmdbRecordStore } from '../../server/store/lmdb/record-store.ts';
import type { RecordStore } from '../../server/store/record-store.ts';
import { BUCKET_THERE, contentOf, DELETE_MARKER, type Subresource, versionName } from '../crash/expected.ts';
import { keptChunks } from '../../server/streams/chunks.ts';

/** Each listed object with its content, or the error that reading it gave. */
export type Shown = Readonly<Record<string, string>>;

process.on('message', (path: string) => {
  void inspect(path).then(
    (inspected) => process.send?.(inspected),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});

async function inspect(path: string): Promise<{ shown: Shown; issues: string[] }> {
  const folder = await openDataFolder(path);
  const records = openLmdbRecordStore({ folder: folder.recordsFolder });
  try {
    const blobs = openFilesBlobStore(folder.blobsFolder);
    const shown = await everything(createObjectLayer({ records, blobs, keys: noKeySource }));
    return { shown, issues: await issuesIn(records, blobs) };
  } finally {
    await records.close();
    await folder.close();
  }
}

/** What `verify` finds with no grace; a body without an owner is what an upload leaves that was cut off. */
async function issuesIn(records: RecordStore, blobs: BlobStore): Promise<string[]> {
  const issues: string[] = [];
  for await (const issue of verifyStores({ records, blobs, now: Date.now() + 1_000, graceMs: 0, bodies: true })) {
    if (issue.kind !== 'orphan-blob') issues.push(`${issue.kind}: ${issue.message}`);
  }
  return issues;
}

async function everything(objects: ObjectLayer): Promise<Shown> {
  const shown: Record<string, string> = {};
  for (const { name: bucket } of await objects.listBuckets()) {
    shown[`${bucket}/`] = BUCKET_THERE;
    for (let after: string | undefined = ''; after !== undefined;) {
      const page = await objects.listObjects({ bucket, prefix: '', delimiter: '', after, limit: 100 });
      for (const { key } of page.objects) shown[`${bucket}/${key}`] = await contentShown(objects, bucket, key);
      after = page.next;
    }
    if ((await objects.getBucketVersioning(bucket)) !== undefined) await addVersions(objects, bucket, shown);
  }
  return shown;
}

async function addVersions(objects: ObjectLayer, bucket: string, shown: Record<string, string>): Promise<void> {
  for (let next: { key: string; versionId?: string } | undefined = { key: '' }; next !== undefined;) {
    const page: VersionListing = await objects.listObjectVersions({
      bucket,
      prefix: '',
      delimiter: '',
      keyMarker: next.key,
      versionIdMarker: next.versionId,
      limit: 100,
    });
    for (const { key, versionId, deleteMarker } of page.versions) {
      const nameOf = (subresource?: Subresource) => versionName(`${bucket}/${key}`, versionId, subresource);
      shown[nameOf()] = deleteMarker ? DELETE_MARKER : await contentShown(objects, bucket, key, versionId);
      if (deleteMarker) continue;
      const { lock } = await objects.headObject(bucket, key, { versionId });
      if (lock?.legalHold === true) shown[nameOf('legal-hold')] = 'ON';
      if (lock?.retention !== undefined) shown[nameOf('retention')] = lock.retention.until.toISOString();
      const { tag } = (await objects.getObjectTags(bucket, key, versionId)).tags;
      if (tag !== undefined) shown[nameOf('tagging')] = tag;
    }
    ({ next } = page);
  }
}

async function contentShown(objects: ObjectLayer, bucket: string, key: string, versionId?: string): Promise<string> {
  try {
    const object = await objects.getObject(bucket, key, { versionId });
    return contentOf(
      Buffer.concat(await Array.fromAsync(keptChunks(object.read({ start: 0, end: object.info.size })))),
    );
  } catch (error) {
    return `unreadable: ${String(error)}`;
  }
}
