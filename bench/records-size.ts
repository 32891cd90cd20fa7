import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Bytes on disk of the files in a folder: a file may be longer than what it holds. */
export function bytesOnDisk(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(folder, name)))
    .filter((stat) => stat.isFile())
    .reduce((sum, stat) => sum + stat.blocks * 512, 0);
}
