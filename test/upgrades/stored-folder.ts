import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** The files of a data folder as text: deflated and in base64, by path. */
export type StoredFolder = Readonly<Record<string, string>>;

/** Files that a server makes again: locks, and the reserve of a full disk. */
const isMadeAgain = (name: string) => /(^|\/)(lock|lock\.mdb|ballast)$/.test(name);

/** Reads a folder that no server uses. */
export async function packFolder(folder: string): Promise<StoredFolder> {
  const files: Record<string, string> = {};
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    const name = relative(folder, path);
    if (!entry.isFile() || isMadeAgain(name)) continue;
    files[name] = deflateRawSync(await readFile(path), { level: 9 }).toString('base64');
  }
  return Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)));
}

export async function unpackFolder(files: StoredFolder, folder: string): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(path, inflateRawSync(Buffer.from(text, 'base64')));
  }
}
