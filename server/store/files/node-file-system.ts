import { type FileHandle, mkdir, open, opendir, rename, stat, statfs, unlink } from 'node:fs/promises';
import { type BlobFileSystem, codeOf, isNoSuchFile, type NewFile } from './blob-file-system.ts';
import { NodeOpenFile } from './node-open-file.ts';

/** The machine's own file system. */
export const nodeFileSystem: BlobFileSystem = {
  async makeFolder(path) {
    try {
      await mkdir(path, { mode: 0o700 });
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  },

  async create(path) {
    return new NodeNewFile(await open(path, 'wx', 0o600));
  },

  rename,
  unlink,

  async syncFolder(path) {
    const folder = await open(path, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  },

  open(path) {
    return NodeOpenFile.open(path);
  },

  async *names(path) {
    try {
      for await (const entry of await opendir(path)) yield entry.name;
    } catch (error) {
      if (!isNoSuchFile(error)) throw error;
    }
  },

  async stat(path) {
    const { size, mtimeMs } = await stat(path);
    return { size, modifiedMs: mtimeMs };
  },

  async space(path) {
    const { bavail, blocks, bsize } = await statfs(path);
    return { free: bavail * bsize, total: blocks * bsize };
  },
};

class NodeNewFile implements NewFile {
  readonly #file: FileHandle;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async write(chunks: readonly Buffer[]): Promise<void> {
    let left = chunks;
    while (left.length > 0) {
      const { bytesWritten } = await this.#file.writev(left);
      left = after(left, bytesWritten);
    }
  }

  syncData(): Promise<void> {
    return this.#file.datasync();
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

/** What a short write left over: a disk almost full writes a part first and refuses only then. */
function after(chunks: readonly Buffer[], written: number): readonly Buffer[] {
  let skip = written;
  const left: Buffer[] = [];
  for (const chunk of chunks) {
    if (skip >= chunk.length) skip -= chunk.length;
    else {
      left.push(chunk.subarray(skip));
      skip = 0;
    }
  }
  return left;
}
