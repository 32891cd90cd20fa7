import { mkdir, open, opendir, rename, stat, statfs, unlink } from 'node:fs/promises';
import { type BlobFileSystem, codeOf, isNoSuchFile } from './blob-file-system.ts';
import { createFile } from './node-new-file.ts';
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

  async space(path) {
    const { bavail, blocks, bsize } = await statfs(path);
    return { free: bavail * bsize, total: blocks * bsize };
  },
};
