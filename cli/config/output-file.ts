import { realpath, stat, writeFile } from 'node:fs/promises';
import { removeUnfinished, writeFileAtomically } from '../../platform/files/atomic-file.ts';
import { descriptorOf } from './descriptor-path.ts';

/**
 * Writes the answer of a server to a file that the caller named. The file gets its name when it is complete, and its mode also if another file
 * had the name. A pipe, a device and an open file, such as `/dev/stdout`, are written directly.
 */
export async function writeOutputFile(
  path: string,
  data: string | Uint8Array | AsyncIterable<Uint8Array>,
  mode: number,
): Promise<void> {
  const existing = await stat(path).catch(() => undefined);
  if (existing !== undefined && (!existing.isFile() || (await descriptorOf(path)) !== undefined)) {
    await writeFile(path, data, { flag: 'a' });
    return;
  }
  const file = existing === undefined ? path : await realpath(path);
  await removeUnfinished(file);
  await writeFileAtomically(file, data, { mode });
}
