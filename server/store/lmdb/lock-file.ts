import { closeSync, fstatSync, ftruncateSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { ProgramError } from '../../../platform/program-error.ts';
import { fileErrorReason } from '../../../platform/system-error.ts';
import { checkWritable, keepOwner } from '../folder-owner.ts';
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
