import { realpath } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
import { systemErrorCode } from '../../platform/errors/system-error.ts';

/** Returns the real path of a folder, or of the nearest one above it that exists. */
export async function nearestFolder(path: string): Promise<string> {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    try {
      return await realpath(folder);
    } catch (error) {
      if (systemErrorCode(error) !== 'ENOENT') throw error;
    }
  }
}

/** Reports if a path is a folder or lies in it. Neither need exist. */
export async function isPathWithin(path: string, folder: string): Promise<boolean> {
  const outer = await realpath(folder).catch(() => undefined);
  if (outer === undefined) return false;
  const place = await nearestFolder(path);
  return place === outer || place.startsWith(outer + sep);
}
