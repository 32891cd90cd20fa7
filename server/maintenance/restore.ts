import { randomUUID } from 'node:crypto';
import { mkdir, opendir, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { makeDurableFolder, syncFolder } from '../store/durable-file.ts';
import { durableCopy } from './link-or-copy.ts';
import { SnapshotError } from './snapshot.ts';

/** What opening a snapshot leaves in it: nothing that a data folder needs. */
const leftOut = new Set(['lock', 'lock.mdb', 'snapshot.json']);

/**
 * Makes a data folder of a snapshot, which stays as it is: its files are copied and not linked. The folder has its name only when all
 * of it is durable. The snapshot should have been verified.
 */
export async function restoreSnapshot(snapshot: string, folder: string): Promise<void> {
  const target = resolve(folder);
  await refuseUnlessEmpty(target);
  await makeDurableFolder(dirname(target));
  const partial = `${target}.partial-${randomUUID()}`;
  try {
    await copyFolder(resolve(snapshot), partial);
    await rmdir(target).catch(() => undefined);
    await rename(partial, target);
    await syncFolder(dirname(target));
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
}

async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  for await (const entry of await opendir(from)) {
    if (leftOut.has(entry.name)) continue;
    if (entry.isDirectory()) await copyFolder(join(from, entry.name), join(to, entry.name));
    else await durableCopy(join(from, entry.name), join(to, entry.name));
  }
  await syncFolder(to);
}

async function refuseUnlessEmpty(folder: string): Promise<void> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
    throw error;
  }
  if (names.length > 0) {
    throw new SnapshotError(`${folder} holds something already: name a folder that is empty, or does not exist yet`);
  }
}
