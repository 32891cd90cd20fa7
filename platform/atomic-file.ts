import { randomBytes } from 'node:crypto';
import { link, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

export interface AtomicFileOptions {
  /** Permission bits; 0600 by default, as these are mostly secrets. */
  readonly mode?: number;
}

/**
 * Replaces a file so that a reader, and a start after a power cut, sees the old or the new content, never a part of it. When this
 * resolves, the new content survives a power cut.
 */
export async function writeFileAtomically(
  path: string,
  data: string | Uint8Array,
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

/** The same, but errors with code `EEXIST` where the file is there already: of two at once, one wins. */
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

/** Makes the names in a folder durable. Windows cannot, and needs not. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Whether a name is that of a file half written when the process died. */
export function isTemporaryName(name: string): boolean {
  return /^\..+\.[0-9a-f]{16}\.tmp$/.test(name);
}

async function writeTemporary(path: string, data: string | Uint8Array, options: AtomicFileOptions): Promise<string> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(8).toString('hex')}.tmp`);
  await writeNew(temporary, data, options);
  return temporary;
}

async function writeNew(path: string, data: string | Uint8Array, options: AtomicFileOptions): Promise<void> {
  const mode = options.mode ?? 0o600;
  const handle = await open(path, 'wx', mode);
  try {
    // The mode of open() is cut by the umask; this one is exact.
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

/** Some network file systems have no hard links; there an exclusive open must do. */
function lacksHardLinks(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'EPERM' || code === 'ENOTSUP' || code === 'ENOSYS' || code === 'EOPNOTSUPP';
}
