import { fileErrorReason, systemErrorCode } from '../../../platform/errors/system-error.ts';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BlobFileSystem, isNoSuchFile, type OpenFile } from './file-system.ts';
import { nodeFileSystem } from './node-file-system.ts';
import { StoreError } from '../store-error.ts';

/** `f_type` of network file systems. @see statfs(2) */
const sharedKinds: ReadonlySet<number> = new Set([
  0x6969, // NFS
  0x00c36400, // CephFS
  0xff534d42, // CIFS
  0xfe534d42, // SMB 2 and 3
  0x517b, // SMB
  0x65735546, // FUSE: GlusterFS, JuiceFS, s3fs, …
  0x01021997, // 9p
  0x0bd00bd0, // Lustre
  0x47504653, // GPFS
  0x19830326, // BeeGFS
  0x013111a8, // IBRIX
  0x5346414f, // AFS
]);

/**
 * Returns the file system of a folder, with retries if it is a network file system. The folder must exist: making it here would hide
 * that a volume is not mounted.
 */
export async function fileSystemOf(folder: string): Promise<BlobFileSystem> {
  const { type } = await statfs(folder).catch((error: unknown) => {
    const message = `the folder for blobs ${folder} cannot be used (${fileErrorReason(error)}): mount its volume, or make it`;
    throw new StoreError('unreachable', message, { cause: error });
  });
  return sharedKinds.has(type) ? sharedFileSystem(nodeFileSystem) : nodeFileSystem;
}

/** Pauses in milliseconds before a missing name is looked up again: 2.1 s together. */
const pauses: readonly number[] = [100, 500, 1500];

/**
 * Wraps a network file system, which this machine's kernel caches:
 * - a name that another server has made may be missing from the cache of its folder: it is looked up again;
 * - a handle becomes stale when the file server restarts or the file is replaced: it is opened again;
 * - a rename that the kernel sent twice finds no source the second time: it has succeeded if the target exists;
 * - some file systems refuse to flush a folder (`EINVAL`): their names are as durable as their server makes them.
 *
 * It cannot help if `fdatasync` or `rename` return before the file server has the change on its disk (NFS exported `async` or mounted
 * `soft`).
 */
export function sharedFileSystem(
  fs: BlobFileSystem,
  pause: (ms: number) => Promise<unknown> = (ms) => sleep(ms),
): BlobFileSystem {
  const open = (path: string): Promise<OpenFile> =>
    afresh(
      () => fs.open(path),
      pause,
      async (error) => {
        if (isNoSuchFile(error)) await lookInto(fs, dirname(path));
        return isNoSuchFile(error) || isStale(error);
      },
    );
  return {
    ...fs,
    shared: true,

    // Direct writes are left out: each would be a request to the file server.
    create: (path) => fs.create(path),

    async open(path) {
      return new SharedFile(await open(path), () => open(path));
    },

    stat: (path) => afresh(() => fs.stat(path), pause, isStale),

    identity: (path) => afresh(() => fs.identity(path), pause, isStale),

    async rename(from, to) {
      try {
        await fs.rename(from, to);
      } catch (error) {
        if (!isNoSuchFile(error)) throw error;
        await fs.stat(to);
      }
    },

    async syncFolder(path) {
      try {
        await fs.syncFolder(path);
      } catch (error) {
        if (!unsupported.has(systemErrorCode(error))) throw error;
      }
    },
  };
}

const unsupported: ReadonlySet<unknown> = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

function isStale(error: unknown): boolean {
  return systemErrorCode(error) === 'ESTALE';
}

async function afresh<T>(
  act: () => Promise<T>,
  pause: (ms: number) => Promise<unknown>,
  worthIt: (error: unknown) => boolean | Promise<boolean>,
): Promise<T> {
  for (const ms of pauses) {
    try {
      return await act();
    } catch (error) {
      if (!(await worthIt(error))) throw error;
    }
    await pause(ms);
  }
  return act();
}

/** Lists a folder, which makes the kernel refresh its cache. */
async function lookInto(fs: BlobFileSystem, folder: string): Promise<void> {
  for (const path of [dirname(folder), folder]) {
    for await (const name of fs.names(path)) {
      if (name !== '') break;
    }
  }
}

/** The handle of one reader, which does not read concurrently: a stale handle is replaced and closed once. */
class SharedFile implements OpenFile {
  #file: OpenFile;
  readonly #again: () => Promise<OpenFile>;

  constructor(file: OpenFile, again: () => Promise<OpenFile>) {
    this.#file = file;
    this.#again = again;
  }

  async read(into: Buffer, position: number): Promise<number> {
    try {
      return await this.#file.read(into, position);
    } catch (error) {
      if (!isStale(error)) throw error;
    }
    const stale = this.#file;
    this.#file = await this.#again();
    await stale.close().catch(() => undefined);
    return this.#file.read(into, position);
  }

  size(): Promise<number | undefined> {
    return this.#file.size();
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
