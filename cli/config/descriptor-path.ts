import { readlink } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** Links that are followed. */
const maxLinks = 8;

const standard: Readonly<Record<string, number>> = { '/dev/stdin': 0, '/dev/stdout': 1, '/dev/stderr': 2 };

/**
 * Returns the number of the open file that a path such as `/dev/stdout`, `/proc/self/fd/3` or a link to one of them names; undefined for other
 * paths. Such a path must not be replaced by a new file, which the other writers of the open file would never see.
 */
export async function descriptorOf(path: string): Promise<number | undefined> {
  let at = resolve(path);
  for (let links = 0; links < maxLinks; links += 1) {
    const number = standard[at] ?? /^\/(?:dev|proc\/(?:self|thread-self|\d+))\/fd\/(\d+)$/.exec(at)?.[1];
    if (number !== undefined) return Number(number);
    const next = await readlink(at).catch(() => undefined);
    if (next === undefined) return undefined;
    at = resolve(dirname(at), next);
  }
  return undefined;
}
