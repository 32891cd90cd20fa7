import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '../context.ts';

/** Returns the certificates that the client trusts besides those of the system, as PEM; an empty text for none. */
export async function trustedAuthorities(context: Context): Promise<string> {
  const folder = join(context.folders.certs, 'CAs');
  const names = await readdir(folder).catch(() => []);
  return (await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).join('\n');
}
