import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ProgramError } from '../../platform/errors/program-error.ts';
import { markerName } from '../store/blobs-marker.ts';
import { countRecords } from '../store/lmdb/counts.ts';
import { RECORD_FILE } from '../store/lmdb/environment.ts';
import { needsBlocksForLocks } from '../store/lmdb/lock-file.ts';
import { compareCounts } from '../maintenance/verify/compare-counts.ts';
import { checkRecordFile, openLmdbReadOnly } from '../store/lmdb/read-only.ts';
import type { StorePlaces } from '../../platform/store-address/store-address.ts';

/** A start looks at all pages and records of a file up to this size, which takes less than half a second, and at the branches of a larger one. */
const MAX_LOOKED_AT = 64 * 1024 * 1024;

/**
 * Looks at the record file before a thread opens it, and counts the records of an older server. The caller holds the lock of the folder. With
 * `looksAtAll` it looks at all pages of a large file, too.
 * Throws `ProgramError` where records are lost: LMDB would end the process, or make a new file in the place of the old one.
 */
export async function prepareRecordFile(
  { records, blobs }: StorePlaces,
  {
    looksAtAll = false,
    maxLookedAt = MAX_LOOKED_AT,
  }: { readonly looksAtAll?: boolean; readonly maxLookedAt?: number } = {},
): Promise<void> {
  if (records.kind !== 'lmdb') return;
  const path = join(records.folder, RECORD_FILE);
  if (!existsSync(path)) {
    if (blobs.kind !== 'files' || !existsSync(join(blobs.folder, markerName))) return;
    throw new ProgramError(
      'record-file',
      `the record file ${path} is missing, and the bodies in ${blobs.folder} belong to a deployment: the records are lost. Put the file back, or restore ` +
        'a snapshot to another folder ("coffer-store restore"); the bodies stay as they are until then. A new server needs a folder of its own for its bodies',
    );
  }
  const isLookedAt = looksAtAll || statSync(path).size <= maxLookedAt;
  checkRecordFile(records.folder, { leaves: isLookedAt });
  if (!isLookedAt) return;
  const opened = openLmdbReadOnly(records.folder);
  let counted = false;
  try {
    counted = (await opened.counts?.()) !== undefined;
    for await (const { message } of compareCounts(opened)) throw lostRecords(path, message);
  } finally {
    await opened.close();
  }
  if (!counted) countRecords(records.folder);
}

/**
 * Returns why the folder of the records may end the server, or undefined. LMDB maps its lock file. A file system that copies on each write wants
 * a new block for a mapped page, and the kernel ends the process (SIGBUS) where a quota or a full disk refuses it.
 */
export function recordFolderWarning({ records }: StorePlaces): string | undefined {
  if (records.kind !== 'lmdb' || !needsBlocksForLocks(records.folder)) return undefined;
  return (
    `the records in ${records.folder} are on btrfs, and there is no memory for their lock file in /dev/shm: a used-up quota or a full disk ends the ` +
    'server (SIGBUS) without a word. Give the server a /dev/shm with 1 MiB, or keep the records on ext4 or XFS'
  );
}

function lostRecords(path: string, message: string): ProgramError {
  return new ProgramError(
    'record-file',
    `records in ${path} are lost: ${message}. Keep the folder as it is, since the bodies in it are still needed, and look at it with "coffer-store verify"; ` +
      'restore a snapshot to another folder ("coffer-store restore")',
  );
}
