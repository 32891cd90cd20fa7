import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Secret } from '../api/object.ts';
import { isTemporaryName } from '../../platform/atomic-file.ts';

/** Secrets kept as folders, laid out as Kubernetes mounts them: `NAME/KEY` holds the value. A newline at its end is not part of it. */
export async function readSecretFolder(folder: string): Promise<readonly Secret[]> {
  const names = await readdir(folder, { withFileTypes: true });
  const secrets = names
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map(async ({ name }): Promise<Secret> => {
      const keys = (await readdir(join(folder, name))).filter((key) => !key.startsWith('.') && !isTemporaryName(key));
      const data = await Promise.all(
        keys.map(
          async (key) => [key, (await readFile(join(folder, name, key), 'utf8')).replace(/\r?\n$/, '')] as const,
        ),
      );
      return { name, data: Object.fromEntries(data) };
    });
  return Promise.all(secrets);
}
