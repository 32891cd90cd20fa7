import { randomUUID } from 'node:crypto';
import { readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeDurableFolder, syncFolder } from '../store/durable-file.ts';

/** Milliseconds between two changes of the time of a folder that is being written. */
const heartbeatMs = 60_000;

/** Milliseconds. The process that wrote a folder whose time is older was killed. Clocks of hosts that share a disk may differ by minutes. */
const staleMs = 30 * 60_000;

const pattern = /\.partial-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The content of snapshots and data folders. A folder with anything else is left alone. */
const known = new Set(['records', 'blobs', 'format.json', 'format.json.new', 'snapshot.json', 'snapshot.json.new']);

/**
 * Makes the folder `target`: `write` fills a temporary folder in the same parent folder, which gets the name when all of it is durable. Before that it removes
 * the temporary folders of killed processes, whose links would keep the disk space of removed blobs for ever.
 */
export async function writeFolderAtomically<T>(target: string, write: (folder: string) => Promise<T>): Promise<T> {
  await makeDurableFolder(dirname(target));
  await removeAbandoned(dirname(target));
  const partial = `${target}.partial-${randomUUID()}`;
  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(partial, now, now).catch(() => undefined);
  }, heartbeatMs).unref();
  try {
    const result = await write(partial);
    await rename(partial, target);
    await syncFolder(dirname(target));
    return result;
  } catch (error) {
    // The next call removes the rest.
    await rm(partial, { recursive: true }).catch(() => undefined);
    throw error;
  } finally {
    clearInterval(heartbeat);
  }
}

/** Removes what is left of snapshots and restorations that were killed. A failure is ignored, since the next one tries it again. */
async function removeAbandoned(parent: string): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    if (!pattern.test(name)) continue;
    const folder = join(parent, name);
    try {
      const { mtimeMs } = await stat(folder);
      const isStale = Date.now() - mtimeMs > staleMs;
      if (isStale && (await readdir(folder)).every((entry) => known.has(entry)))
        await rm(folder, { recursive: true, force: true });
    } catch {
      continue;
    }
  }
}
