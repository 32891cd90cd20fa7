import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { RootDatabase } from 'lmdb';
import { syncFile, syncFolder } from '../durable-file.ts';

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
