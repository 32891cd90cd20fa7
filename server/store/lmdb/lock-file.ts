import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { fileErrorReason } from '../../../platform/errors/system-error.ts';
import { checkWritable, keepOwner } from '../folder-owner.ts';
import { HALF_MADE } from '../durable-file.ts';
import { PROBE } from '../folder-probe.ts';
import { isNoRoom } from '../store-error.ts';
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
  checkWritable(join(folder, RECORD_FILE));
  const path = join(folder, LOCK_FILE);
  checkWritable(path);
  try {
    allocateLockFile(path);
    keepOwner(path);
  } catch (error) {
    const cure = isNoRoom(error)
      ? '. LMDB maps it, and the kernel ends a process (SIGBUS) that writes to a mapped page without a block: make room, or raise the quota, and start again'
      : '';
    throw new ProgramError(
      'data-folder',
      `the lock file ${path} cannot be prepared: ${fileErrorReason(error)}${cure}`,
      {
        cause: error,
      },
    );
  }
  checkMappable(folder);
}

/** Where Linux keeps files in memory. */
const MEMORY = '/dev/shm';
const BTRFS = 0x91_23_68_3e;

/**
 * Puts the lock file of records on btrfs into memory, behind a link, in the place of `prepareLockFile`. btrfs wants a new block for each write to a
 * mapped page, and the kernel ends the process (SIGBUS) where a quota or a full disk refuses it. A server in another container has other
 * memory, so that the caller must hold a lock on the folder of the records. Returns what removes the file, or undefined where the lock
 * file stays beside the records: on other file systems, and without such memory.
 */
export function keepLockFileInMemory(folder: string): (() => void) | undefined {
  const path = join(folder, LOCK_FILE);
  const { dev, ino } = statSync(folder);
  const file = join(MEMORY, `coffer-${dev}-${ino}-${randomUUID()}`);
  removeLink(path, join(MEMORY, `coffer-${dev}-${ino}-`));
  if (!isBtrfs(folder)) return undefined;
  checkWritable(join(folder, RECORD_FILE));
  const link = join(folder, `${HALF_MADE}${randomUUID()}`);
  const remove = () => rmSync(file, { force: true });
  try {
    allocateLockFile(file);
    symlinkSync(file, link);
    renameSync(link, path);
    return remove;
  } catch {
    for (const made of [file, link]) rmSync(made, { force: true });
    return undefined;
  }
}

/** Removes the link that an earlier server left, and its file. A copy of a folder has the link of the folder from which it was copied. */
function removeLink(path: string, ownFiles: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return;
  const file = readlinkSync(path);
  if (file.startsWith(ownFiles)) rmSync(file, { force: true });
  rmSync(path);
}

function isBtrfs(folder: string): boolean {
  return process.platform === 'linux' && statfsSync(folder).type === BTRFS;
}

/** Reports if the kernel would end the process on a full disk, since the lock file is beside records on btrfs. */
export function needsBlocksForLocks(folder: string): boolean {
  return isBtrfs(folder) && lstatSync(join(folder, LOCK_FILE), { throwIfNoEntry: false })?.isSymbolicLink() !== true;
}

/**
 * Writes all bytes of a lock file, those that it has or zeros, so that each page that LMDB maps has a block. LMDB itself leaves holes. It writes
 * the content anew where no other process has the environment open.
 */
export function allocateLockFile(path: string): void {
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  try {
    const bytes = Buffer.alloc(Math.max(fstatSync(file).size, LOCK_BYTES));
    for (let at = 0, read = -1; read !== 0; at += read) read = readSync(file, bytes, at, bytes.length - at, at);
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at, bytes.length - at, at);
  } finally {
    closeSync(file);
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
