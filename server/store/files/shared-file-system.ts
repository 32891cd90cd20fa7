import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StoreUnavailable } from '../record-store.ts';
import { type BlobFileSystem, codeOf, isNoSuchFile, type OpenFile } from './file-system.ts';
import { nodeFileSystem } from './node-file-system.ts';

/** `f_type` of file systems whose files other machines change too. @see statfs(2) */
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
 * The file system that a folder is on: several servers may have one that is shared. The folder must be there: made here, it would
 * hide that a volume is not mounted.
 */
export async function fileSystemOf(folder: string): Promise<BlobFileSystem> {
  const { type } = await statfs(folder).catch((error: unknown) => {
    const message = `the folder for blobs ${folder} cannot be used (${String(codeOf(error))}): mount its volume, or make it`;
    throw new StoreUnavailable('unreachable', message, { cause: error });
  });
  return sharedKinds.has(type) ? sharedFileSystem(nodeFileSystem) : nodeFileSystem;
}

/** How long names are looked for again that another server has just made: 2.1 s together. */
const pauses: readonly number[] = [100, 500, 1500];

/**
 * A file system on another machine, through this machine's caches:
 * - a name made elsewhere may not be seen at once, where its folder was looked at before it: it is looked for again;
 * - a handle goes stale when the server of the files is restarted or the file is replaced: it is opened again;
 * - a rename that was sent twice finds nothing the second time: it is done when its target is there;
 * - some refuse to flush a folder (`EINVAL`): their names are as durable as their server makes them when it answers.
 *
 * What it cannot mend: a file system that answers `fdatasync` or `rename` before the server has the change on its disk (NFS exported
 * `async`, mounted `soft`).
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

    async open(path) {
      return new SharedFile(await open(path), () => open(path));
    },

    stat: (path) => afresh(() => fs.stat(path), pause, isStale),

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
        if (!unsupported.has(codeOf(error))) throw error;
      }
    },
  };
}

const unsupported: ReadonlySet<unknown> = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP']);

function isStale(error: unknown): boolean {
  return codeOf(error) === 'ESTALE';
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

/** Reading a folder makes the kernel ask for it again, instead of answering from what it remembers. */
async function lookInto(fs: BlobFileSystem, folder: string): Promise<void> {
  for (const path of [dirname(folder), folder]) {
    for await (const name of fs.names(path)) {
      if (name !== '') break;
    }
  }
}

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
