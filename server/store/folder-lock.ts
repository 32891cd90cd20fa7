import { DatabaseSync } from 'node:sqlite';
import { DataFolderError } from './data-folder-error.ts';

/** Keeps the handles of locks that are held: one that is collected would be let go. */
const held = new Set<DatabaseSync>();

export interface FolderLock {
  release(): void;
}

/**
 * Takes the lock of a data folder, or throws `DataFolderError` when another process has it.
 *
 * It is the kernel's own lock of a file (fcntl on Linux and macOS, LockFileEx on Windows), which nothing in Node takes but SQLite: an
 * open exclusive transaction on a database that stays empty. The kernel lets it go when the process dies, however it dies, so no
 * lock is ever stale. A file with a process id would be: in another container the same number means another process, and a
 * socket's name outlives its server.
 * @see https://www.sqlite.org/lockingv3.html
 */
export function lockFolder(path: string, file: string): FolderLock {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    // In memory, so that no journal appears beside the lock.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    throw new DataFolderError(
      isBusy(error)
        ? `the data folder ${path} is in use by another server: stop that one, or give this one a folder of its own`
        : `the data folder ${path} cannot be locked: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
  held.add(database);
  return {
    release: () => {
      if (held.delete(database)) database.close();
    },
  };
}

const SQLITE_BUSY = 5;

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
}
