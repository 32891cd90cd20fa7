import { mkdir, open, rename, readdir, rm } from 'node:fs/promises';
import { dirname, resolve, join } from 'node:path';

/** Makes a folder of this user only, and those above it that are missing, all durable; one that is there is fine. */
export async function makeDurableFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  // Each new folder's name is in the one above it.
  for (let made = resolve(path); made.length >= resolve(first).length; made = dirname(made))
    await syncFolder(dirname(made));
}

/** Writes a whole small file so that after a power cut there is either the old one or the new one. Mode 0600. */
export async function writeDurably(path: string, text: string): Promise<void> {
  const beside = `${path}.new`;
  await writeNewFile(beside, text);
  await rename(beside, path);
  await syncFolder(dirname(path));
}

/** Writes a file whose name is not durable yet. Mode 0600. */
export async function writeNewFile(path: string, text: string): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes the bytes of a file durable that others wrote. */
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

/** Names of folders begin so in which something is made that gets its own name when it is whole. */
export const HALF_MADE = 'new-';

/** Removes what a start that was cut off left. For the one process that has the data folder, before its threads make anything. */
export async function removeHalfMade(folder: string): Promise<void> {
  const names = await readdir(folder);
  for (const name of names.filter((each) => each.startsWith(HALF_MADE)))
    await rm(join(folder, name), { recursive: true });
}
