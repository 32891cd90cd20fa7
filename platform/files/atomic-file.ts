import { randomBytes } from 'node:crypto';
import { link, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Milliseconds without a write, after which a temporary file belongs to a killed process. The answer of a slow server takes longer in all. */
const staleMs = 10 * 60_000;

interface AtomicFileOptions {
  /** Permission bits, 0600 by default, because most of these files hold secrets. */
  readonly mode?: number;
}

/**
 * Replaces a file. A reader, and a program that starts after a power cut, sees the old or the new content, never a part of it. When the
 * promise resolves, the new content survives a power cut.
 *
 * @example
 * await writeFileAtomically('/data/config.json', JSON.stringify(config));
 */
export async function writeFileAtomically(
  path: string,
  data: string | Uint8Array | AsyncIterable<Uint8Array>,
  options: AtomicFileOptions = {},
): Promise<void> {
  const temporary = await writeTemporary(path, data, options);
  try {
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Does the same for a new file. Rejects with code `EEXIST` if the file exists: of two concurrent calls one succeeds. */
export async function createFileAtomically(
  path: string,
  data: string | Uint8Array,
  options: AtomicFileOptions = {},
): Promise<void> {
  const temporary = await writeTemporary(path, data, options);
  try {
    await link(temporary, path);
  } catch (error) {
    if (!lacksHardLinks(error)) throw error;
    await writeNew(path, data, options);
  } finally {
    await rm(temporary, { force: true });
  }
  await syncFolder(dirname(path));
}

/** Flushes the names in a folder to the disk. Windows cannot do that, and does not need it. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Reports whether a name belongs to a file that was half written when the process died. */
export function isTemporaryName(name: string): boolean {
  return /^\..+\.[0-9a-f]{16}\.tmp$/.test(name);
}

/**
 * Removes the temporary files for `path` that were not written for `minAgeMs`: those of processes that were killed before they renamed them.
 * They may hold secrets. It reads the whole folder, so that a program with many files there calls it once. A failure is ignored, since the
 * next call tries it again.
 */
export async function removeUnfinished(path: string, minAgeMs = staleMs): Promise<void> {
  const prefix = `.${basename(path)}.`;
  const { length } = temporaryName(path);
  for (const name of await readdir(dirname(path)).catch(() => [])) {
    if (!name.startsWith(prefix) || name.length !== length || !isTemporaryName(name)) continue;
    const found = join(dirname(path), name);
    const made = (await stat(found).catch(() => undefined))?.mtimeMs ?? Date.now();
    if (Date.now() - made >= minAgeMs) await rm(found, { force: true }).catch(() => undefined);
  }
}

async function writeTemporary(
  path: string,
  data: string | Uint8Array | AsyncIterable<Uint8Array>,
  options: AtomicFileOptions,
): Promise<string> {
  const temporary = join(dirname(path), temporaryName(path));
  await writeNew(temporary, data, options);
  return temporary;
}

function temporaryName(path: string): string {
  return `.${basename(path)}.${randomBytes(8).toString('hex')}.tmp`;
}

async function writeNew(
  path: string,
  data: string | Uint8Array | AsyncIterable<Uint8Array>,
  options: AtomicFileOptions,
): Promise<void> {
  const mode = options.mode ?? 0o600;
  const handle = await open(path, 'wx', mode);
  try {
    // The umask limits the mode of open(); this call sets the exact mode.
    await handle.chmod(mode);
    await handle.writeFile(data);
    await handle.sync();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

/** Some network file systems have no hard links. An exclusive open does the work there. */
function lacksHardLinks(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'EPERM' || code === 'ENOTSUP' || code === 'ENOSYS' || code === 'EOPNOTSUPP';
}
