import { isLoss, type Issue } from '../../server/maintenance/verify/issue.ts';
import { verifyStores } from '../../server/maintenance/verify/verify-stores.ts';
import { removeQueuedBlobs, removeOrphanBlobs } from '../../server/objects/garbage-collection/garbage-collection.ts';
import type { BlobStore } from '../../server/store/blob-store.ts';
import { openDataFolder } from '../../server/store/data-folder.ts';
import { openFilesBlobStore } from '../../server/store/files/blob-store.ts';
import { openLmdbRecordStore } from '../../server/store/lmdb/record-store.ts';
import type { RecordStore } from '../../server/store/record-store.ts';

export interface Verified {
  /** Issues that an end in the middle of anything does not explain. */
  readonly complaints: readonly string[];
  /** Blobs without an owner: bodies that had come, or were coming, when the server ended before the commit that would own them. */
  readonly orphans: number;
}

/**
 * What `verify` finds in the data folder of a server that does not run, with no grace. An end in the middle of an upload may leave a
 * blob that nothing owns; nothing else is explained by it.
 */
export function verifyFolder(path: string): Promise<Verified> {
  return withStores(path, verified);
}

/** The same after the sweeper took away what it would take away in a day: then nothing at all may be found. */
export function verifySweptFolder(path: string): Promise<Verified> {
  return withStores(path, verifiedWhenSwept);
}

/** As `verifySweptFolder`, for stores that are open. */
export async function verifiedWhenSwept(records: RecordStore, blobs: BlobStore): Promise<Verified> {
  const now = Date.now() + 1_000;
  await removeQueuedBlobs({ records, blobs, now, delay: 0 });
  await removeOrphanBlobs({ records, blobs, now, grace: 0 });
  const { complaints, orphans } = await verified(records, blobs);
  return { complaints: orphans === 0 ? complaints : [...complaints, `${orphans} orphans were not swept`], orphans };
}

/** As `verifyFolder`, for stores that are open. */
export async function verified(records: RecordStore, blobs: BlobStore): Promise<Verified> {
  const complaints: string[] = [];
  let orphans = 0;
  for await (const issue of verifyStores({ records, blobs, now: Date.now() + 1_000, graceMs: 0, bodies: true })) {
    if (issue.kind === 'orphan-blob') orphans += 1;
    else complaints.push(described(issue));
  }
  return { complaints, orphans };
}

function described(issue: Issue): string {
  return `verify: ${issue.kind}${isLoss(issue) ? ' (a loss)' : ''}: ${issue.message}`;
}

async function withStores<T>(path: string, work: (records: RecordStore, blobs: BlobStore) => Promise<T>): Promise<T> {
  const folder = await openDataFolder(path);
  const records = openLmdbRecordStore({ folder: folder.recordsFolder });
  try {
    return await work(records, openFilesBlobStore(folder.blobsFolder));
  } finally {
    await records.close();
    await folder.close();
  }
}
