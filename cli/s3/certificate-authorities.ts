import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The authorities that TLS connections trust: those of Node (NODE_EXTRA_CA_CERTS included) and every file in the folder
 * `certs/CAs` of the configuration. Undefined when that folder adds none.
 */
export async function certificateAuthorities(configFolder: string): Promise<readonly string[] | undefined> {
  const folder = join(configFolder, 'certs', 'CAs');
  const names = await readdir(folder).catch(() => []);
  if (names.length === 0) return undefined;
  const own = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  const { getCACertificates } = await import('node:tls');
  return [...getCACertificates('default'), ...own];
}
