import { systemErrorCode } from '../../../platform/errors/system-error.ts';
import { constants } from 'node:fs';
import { type FileHandle, open, unlink, mkdir, opendir, rename, stat, statfs } from 'node:fs/promises';
import { isNoSuchFile, type NewFile, type BlobFileSystem } from './file-system.ts';
import { NodeOpenFile } from './node-open-file.ts';
import { keepOwner } from '../folder-owner.ts';
import { spaceOf } from '../volume-space.ts';
import { PAGE } from './write-pages.ts';

const { O_CREAT, O_DIRECT, O_EXCL, O_WRONLY } = constants as Readonly<Record<string, number | undefined>>;

/** Creates a file. With `direct`, whole pages bypass the page cache if the system can: that saves a copy and most of the flush. */
async function createFile(path: string, how?: { readonly direct: boolean }): Promise<NewFile> {
  const direct = how?.direct === true ? await createDirect(path) : undefined;
  const plain = direct === undefined ? await open(path, 'wx', 0o600) : undefined;
  keepOwner(path);
  return new NodeNewFile(path, plain, direct);
}

/** Returns undefined if the file system does not support direct writes. */
async function createDirect(path: string): Promise<FileHandle | undefined> {
  if (O_DIRECT === undefined) return undefined;
  try {
    return await open(path, (O_CREAT ?? 0) | (O_EXCL ?? 0) | (O_WRONLY ?? 0) | O_DIRECT, 0o600);
  } catch (error) {
    if (!refusesDirect(error)) throw error;
  }
  // The system may have created the file before it refused to open it.
  await unlink(path).catch((error: unknown) => {
    if (!isNoSuchFile(error)) throw error;
  });
  return undefined;
}

class NodeNewFile implements NewFile {
  readonly #path: string;
  /** The file as opened for writes through the page cache, when first needed. */
  #plain: Promise<FileHandle> | undefined;
  #direct: FileHandle | undefined;
  readonly #opened: FileHandle[] = [];

  constructor(path: string, plain: FileHandle | undefined, direct: FileHandle | undefined) {
    this.#path = path;
    this.#plain = plain && Promise.resolve(plain);
    this.#direct = direct;
    for (const file of [plain, direct]) if (file !== undefined) this.#opened.push(file);
  }

  get isDirect(): boolean {
    return this.#direct !== undefined;
  }

  async write(chunks: readonly Buffer[], position?: number): Promise<void> {
    const file = await this.#throughCache();
    let left = chunks;
    let at = position;
    while (left.length > 0) {
      const { bytesWritten } = await file.writev(left, at);
      left = after(left, bytesWritten);
      if (at !== undefined) at += bytesWritten;
    }
  }

  async writeAt(bytes: Buffer, position: number): Promise<void> {
    const direct = isWholePages(bytes, position) ? this.#direct : undefined;
    if (direct !== undefined) {
      try {
        const { bytesWritten } = await direct.write(bytes, 0, bytes.length, position);
        if (bytesWritten === bytes.length) return;
        await this.#writeRest(bytes, bytesWritten, position);
        return;
      } catch (error) {
        // A disk with larger sectors needs larger pages.
        if (!refusesDirect(error)) throw error;
        this.#direct = undefined;
      }
    }
    await this.#writeRest(bytes, 0, position);
  }

  async truncate(length: number): Promise<void> {
    await this.#opened[0]?.truncate(length);
  }

  async syncData(): Promise<void> {
    // One flush covers the writes of both handles.
    await this.#opened[0]?.datasync();
  }

  async close(): Promise<void> {
    for (const file of this.#opened) await file.close();
  }

  /** Writes in a loop: a disk that is almost full writes a part first and fails on the next call. */
  async #writeRest(bytes: Buffer, written: number, position: number): Promise<void> {
    const file = await this.#throughCache();
    for (let at = written; at < bytes.length;) {
      at += (await file.write(bytes, at, bytes.length - at, position + at)).bytesWritten;
    }
  }

  #throughCache(): Promise<FileHandle> {
    this.#plain ??= open(this.#path, 'r+').then((file) => {
      this.#opened.push(file);
      return file;
    });
    return this.#plain;
  }
}

function isWholePages(bytes: Buffer, position: number): boolean {
  return (bytes.byteOffset | bytes.length | position) % PAGE === 0;
}

function refusesDirect(error: unknown): boolean {
  const code = systemErrorCode(error);
  return code === 'EINVAL' || code === 'ENOTSUP' || code === 'EOPNOTSUPP';
}

/** Returns the rest of the chunks after a short write. */
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

/** The machine's own file system. */
export const nodeFileSystem: BlobFileSystem = {
  async makeFolder(path) {
    try {
      await mkdir(path, { mode: 0o700 });
      keepOwner(path);
    } catch (error) {
      if (systemErrorCode(error) !== 'EEXIST') throw error;
    }
  },

  create: createFile,

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

  async identity(path) {
    // Inodes of network file systems may exceed what a number holds.
    const { dev, ino } = await stat(path, { bigint: true });
    return `${dev}:${ino}`;
  },

  async space(path) {
    return spaceOf(await statfs(path));
  },
};
