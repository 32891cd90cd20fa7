import { mkdir, open, rename, readdir, rm, stat } from 'node:fs/promises';
import { dirname, resolve, join } from 'node:path';
import { systemErrorCode } from '../../platform/errors/system-error.ts';
import { keepOwner } from './folder-owner.ts';

/** Makes a folder and its missing parents, readable by this user only and durable. An existing folder is not an error. */
export async function makeDurableFolder(path: string): Promise<void> {
  const first = await makeMissing(resolve(path));
  if (first === undefined) return;
  const all: string[] = [];
  for (let made = resolve(path); made.length >= resolve(first).length; made = dirname(made)) all.unshift(made);
  // Each new folder's name is in the one above it.
  for (const made of all) {
    keepOwner(made);
    await syncFolder(dirname(made));
  }
}

/** Returns the first folder that it made. The recursive `mkdir` of Node has ENOENT for each error without a name, such as that of a quota. */
async function makeMissing(path: string): Promise<string | undefined> {
  const make = () => mkdir(path, { mode: 0o700 });
  try {
    await make();
    return path;
  } catch (error) {
    if ((await stat(path).catch(() => undefined))?.isDirectory() === true) return undefined;
    if (systemErrorCode(error) !== 'ENOENT' || dirname(path) === path) throw error;
  }
  const first = await makeMissing(dirname(path));
  return first === undefined ? makeMissing(path) : make().then(() => first);
}

/** The name under which `writeDurably` writes a file. A process that is killed leaves it. */
export function besideOf(path: string): string {
  return `${path}.new`;
}

/** Replaces a small file atomically: after a power cut the file is the old one or the new one. Mode 0600. */
export async function writeDurably(path: string, text: string): Promise<void> {
  const beside = besideOf(path);
  try {
    await writeNewFile(beside, text);
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Writes a file and flushes its bytes, but not its name. Mode 0600. */
export async function writeNewFile(path: string, text: string): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    keepOwner(path);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Flushes a file that another writer wrote. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** The prefix of temporary folders, whose content is linked to its final name when it is complete. */
export const HALF_MADE = 'new-';

/** Removes the temporary folders of an interrupted start. Only the process that holds the data folder's lock may call this. */
export async function removeHalfMade(folder: string): Promise<void> {
  const names = await readdir(folder);
  for (const name of names.filter((each) => each.startsWith(HALF_MADE)))
    await rm(join(folder, name), { recursive: true });
}
