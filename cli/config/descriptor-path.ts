import { readlink } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** Links that are followed. */
const maxLinks = 8;

const standard: Readonly<Record<string, number>> = { '/dev/stdin': 0, '/dev/stdout': 1, '/dev/stderr': 2 };

/**
 * Returns the number of this program's open file that a path such as `/dev/stdout`, `/proc/self/fd/3` or a link to one of them names; `other`
 * for an open file of another program, which is opened by its path; undefined for other paths. An open file must not be replaced by a new
 * one, which its other writers would never see.
 */
export async function descriptorOf(path: string): Promise<number | 'other' | undefined> {
  let at = resolve(path);
  for (let links = 0; links < maxLinks; links += 1) {
    const [, owner, number] = /^\/(?:dev|proc\/(self|thread-self|\d+))\/fd\/(\d+)$/.exec(at) ?? [];
    if (/^\d/.test(owner ?? '') && Number(owner) !== process.pid) return 'other';
    const found = standard[at] ?? number;
    if (found !== undefined) return Number(found);
    const next = await readlink(at).catch(() => undefined);
    if (next === undefined) return undefined;
    at = resolve(dirname(at), next);
  }
  return undefined;
}
