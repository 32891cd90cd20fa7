import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, linkSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { chmod, mkdir } from 'node:fs/promises';
import { open, type RootDatabase } from 'lmdb';
import { keepOwner } from '../folder-owner.ts';
import { HALF_MADE, syncFile, syncFolder } from '../durable-file.ts';
import { RecordTables } from './record-tables.ts';

export interface Environment {
  readonly root: RootDatabase<Buffer, Buffer>;
  readonly tables: RecordTables;
}

export const RECORD_FILE = 'data.mdb';

/**
 * Opens an environment. The map is large from the start, because LMDB would otherwise move it while other threads read.
 * @see https://github.com/kriszyp/lmdb-js#options
 */
export function openEnvironment(folder: string, mapSize: number = 2 ** 40, readOnly = false): Environment {
  // The types of lmdb-js do not have these options.
  const options = {
    permissionsMode: 0o600,
    // The limits of the in-memory list of free pages. Every commit of lmdb-js checks that list against itself, which costs the square
    // of its length. A short list suffices, because values need single pages only (`record-tables.ts`).
    maxFreeSpaceToLoad: 1_000,
    maxFreeSpaceToRetain: 2_000,
  };
  const root = open<Buffer, Buffer>({
    path: folder,
    noSubdir: false,
    readOnly,
    // Readers see a commit only when it is durable.
    overlappingSync: false,
    // `commit.ts` batches. The batching of lmdb-js makes a promise without a handler, so a failed commit would end the process.
    eventTurnBatching: false,
    keyEncoding: 'binary',
    encoding: 'binary',
    cache: false,
    mapSize,
    // Each thread needs a slot, and a crashed process may leave its slots behind.
    maxReaders: 1024,
    ...options,
  });
  return { root, tables: new RecordTables(root) };
}

/**
 * Makes the record file if the folder has none. LMDB writes the first pages of a new file without a flush between them. If a power cut
 * keeps only some of them, every process that opens the file crashes (SIGSEGV in LMDB 0.9). So the file is made in a temporary folder,
 * flushed, and then linked to its name. The caller flushes the folder. Several threads may do this at the same time.
 */
export function makeEnvironment(folder: string): void {
  const file = join(folder, RECORD_FILE);
  if (existsSync(file)) return;
  const beside = join(folder, `${HALF_MADE}${randomUUID()}`);
  mkdirSync(beside, { mode: 0o700 });
  try {
    // `close` is synchronous here, because no write is pending and the environment is not shared.
    void openEnvironment(beside).root.close();
    sync(join(beside, RECORD_FILE));
    linkSync(join(beside, RECORD_FILE), file);
    keepOwner(file);
  } catch (error) {
    // Another thread was first and made the same file.
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
 * Copies the records as of one moment into a new folder, while the store is in use. The copy is durable when the promise resolves. It
 * leaves out unused pages.
 *
 * The copy uses the handle that is in use: lmdb-js 3.5.6 blocks every writer forever once a thread opens and closes a second handle of
 * an environment that it writes to.
 */
export async function backupLmdb(root: RootDatabase<Buffer, Buffer>, target: string): Promise<void> {
  await mkdir(target, { mode: 0o700 });
  await root.backup(target, true);
  const file = join(target, 'data.mdb');
  await chmod(file, 0o600);
  await syncFile(file);
  await syncFolder(target);
}
