import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Names of folders begin so in which something is made that gets its own name when it is whole. */
export const HALF_MADE = 'new-';

/** Removes what a start that was cut off left. For the one process that has the data folder, before its threads make anything. */
export async function removeHalfMade(folder: string): Promise<void> {
  const names = await readdir(folder);
  for (const name of names.filter((each) => each.startsWith(HALF_MADE)))
    await rm(join(folder, name), { recursive: true });
}
