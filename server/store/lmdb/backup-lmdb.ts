import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { open } from 'lmdb';
import { syncFile, syncFolder } from '../durable-file.ts';

/**
 * Copies the records as they are at one moment into a new folder, while this process serves them or nobody does. Durable when it
 * resolves. Unused pages are left out, so that the copy may be smaller.
 */
export async function backupLmdb(folder: string, target: string): Promise<void> {
  await mkdir(target, { mode: 0o700 });
  // The environment that the process has open already, where it has: its settings are those of whoever opened it first.
  const root = open({
    path: folder,
    noSubdir: false,
    overlappingSync: false,
    eventTurnBatching: false,
    mapSize: 2 ** 40,
    maxReaders: 1024,
  });
  try {
    await root.backup(target, true);
  } finally {
    await root.close();
  }
  const file = join(target, 'data.mdb');
  await chmod(file, 0o600);
  await syncFile(file);
  await syncFolder(target);
}
