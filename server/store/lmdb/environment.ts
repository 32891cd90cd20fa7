import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, linkSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { chmod, mkdir } from 'node:fs/promises';
import { open, type RootDatabase } from 'lmdb';
import { HALF_MADE, syncFile, syncFolder } from '../durable-file.ts';
import { RecordTables } from './record-tables.ts';

export interface Environment {
  readonly root: RootDatabase<Buffer, Buffer>;
  readonly tables: RecordTables;
}

const FILE = 'data.mdb';

/**
 * The map is large from the start: LMDB would otherwise move it while other threads read.
 * @see https://github.com/kriszyp/lmdb-js#options
 */
export function openEnvironment(folder: string, mapSize: number = 2 ** 40): Environment {
  // lmdb-js takes them and its types do not know them.
  const options = {
    permissionsMode: 0o600,
    // Entries of the list of free pages in memory. Every commit of lmdb-js checks that list against itself, which costs the square of
    // its length; and values ask for single pages, for which whatever is in the list will do (`record-tables.ts`).
    maxFreeSpaceToLoad: 1_000,
    maxFreeSpaceToRetain: 2_000,
  };
  const root = open<Buffer, Buffer>({
    path: folder,
    noSubdir: false,
    // Nobody reads a commit before it is durable.
    overlappingSync: false,
    // The queue batches. lmdb-js' own batching makes a promise that nobody holds: a failed commit would end the process.
    eventTurnBatching: false,
    keyEncoding: 'binary',
    encoding: 'binary',
    cache: false,
    mapSize,
    // A slot for each thread's reads and for those that a crash left behind.
    maxReaders: 1024,
    ...options,
  });
  return { root, tables: new RecordTables(root) };
}

/**
 * Makes the file of records in a folder that has none. LMDB writes the first pages of a new file without a flush between them, and
 * a file that a power cut left with some of them ends every process that opens it (SIGSEGV in LMDB 0.9). So the file gets its name
 * only when it is whole and durable; the name itself is durable when the folder is flushed. Threads may do this at the same time.
 */
export function makeEnvironment(folder: string): void {
  const file = join(folder, FILE);
  if (existsSync(file)) return;
  const beside = join(folder, `${HALF_MADE}${randomUUID()}`);
  mkdirSync(beside, { mode: 0o700 });
  try {
    // Closes at once: nothing is being written, and nobody else has this one.
    void openEnvironment(beside).root.close();
    sync(join(beside, FILE));
    linkSync(join(beside, FILE), file);
  } catch (error) {
    // Another thread was first, and it made the same.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(beside, { recursive: true });
  }
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r+');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Copies the records as they are at one moment into a new folder, while they are served. Durable when it resolves. Unused pages are
 * left out, so that the copy may be smaller.
 *
 * By the handle that serves: lmdb-js 3.5.6 blocks every writer for good once a thread opens a second handle of an environment that
 * it writes to, and closes it again.
 */
export async function backupLmdb(root: RootDatabase<Buffer, Buffer>, target: string): Promise<void> {
  await mkdir(target, { mode: 0o700 });
  await root.backup(target, true);
  const file = join(target, 'data.mdb');
  await chmod(file, 0o600);
  await syncFile(file);
  await syncFolder(target);
}
