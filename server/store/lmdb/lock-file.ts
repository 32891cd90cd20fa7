import { randomUUID } from 'node:crypto';
import { closeSync, fstatSync, ftruncateSync, openSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ProgramError } from '../../../platform/program-error.ts';
import { fileErrorReason } from '../../../platform/system-error.ts';
import { checkWritable, keepOwner } from '../folder-owner.ts';
import { PROBE } from '../folder-probe.ts';
import { RECORD_FILE } from './environment.ts';

export const LOCK_FILE = 'lock.mdb';
/** Bytes that LMDB's lock file has for 1,024 readers, and some more. */
const LOCK_BYTES = 128 * 1024;

/**
 * Tries what LMDB does to the files of its folder when it opens them. Where one of these calls fails, lmdb-js 3.5 ends the process by SIGSEGV
 * without a word. The process must call this before it opens the environment, and never afterwards: to close a file gives up all locks of the
 * process on it.
 *
 * @throws ProgramError with path, owner and cure
 */
export function prepareLockFile(folder: string): void {
  checkMappable(folder);
  checkWritable(join(folder, RECORD_FILE));
  const path = join(folder, LOCK_FILE);
  checkWritable(path);
  let file: number | undefined;
  try {
    file = openSync(path, 'a+', 0o600);
    keepOwner(path);
    // LMDB writes the content anew where no other process has the environment open.
    if (fstatSync(file).size < LOCK_BYTES) ftruncateSync(file, LOCK_BYTES);
  } catch (error) {
    throw new ProgramError('data-folder', `the lock file ${path} cannot be prepared: ${fileErrorReason(error)}`, {
      cause: error,
    });
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Bytes. A page that is mapped from a full file system ends the process by SIGBUS, so that nothing is tried there. */
const ROOM_TO_TRY = 1024 * 1024;

/**
 * Throws `ProgramError` if the file system cannot map a file into the memory of several processes, as LMDB does. In Node only SQLite does the
 * same, with the index of its write-ahead log.
 *
 * @see https://www.sqlite.org/wal.html#implementation_of_shared_memory_for_the_wal_index
 */
function checkMappable(folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < ROOM_TO_TRY) return;
  const file = join(folder, `${PROBE}${randomUUID()}`);
  try {
    const database = new DatabaseSync(file, { timeout: 0 });
    try {
      database.exec('PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL; CREATE TABLE probe (x)');
    } finally {
      database.close();
    }
  } catch (error) {
    if (!(error instanceof Error && 'errcode' in error && error.errcode === SQLITE_IOERR_SHMMAP)) return;
    throw new ProgramError(
      'data-folder',
      `the folder ${folder} cannot hold records: its file system cannot map files into memory. Keep the records on a local disk`,
      { cause: error },
    );
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
  }
}

/** The extended code of a failed mapping. */
const SQLITE_IOERR_SHMMAP = 5386;
