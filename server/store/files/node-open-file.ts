import { closeSync, constants, fstat, open, read } from 'node:fs';
import type { OpenFile } from './file-system.ts';

/** No symbolic link at the end of the path, and no waiting for the writer of a pipe. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** An open file by its descriptor: a `FileHandle` of `fs/promises` costs several times as much in each read. */
export class NodeOpenFile implements OpenFile {
  readonly #descriptor: number;

  private constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  static open(path: string): Promise<NodeOpenFile> {
    return new Promise((resolve, reject) => {
      open(path, FLAGS, (error, descriptor) => {
        if (error === null) resolve(new NodeOpenFile(descriptor));
        else reject(error);
      });
    });
  }

  read(into: Buffer, position: number): Promise<number> {
    return new Promise((resolve, reject) => {
      read(this.#descriptor, into, 0, into.length, position, (error, count) => {
        if (error === null) resolve(count);
        else reject(error);
      });
    });
  }

  size(): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      fstat(this.#descriptor, (error, stats) => {
        if (error === null) resolve(stats.isFile() ? stats.size : undefined);
        else reject(error);
      });
    });
  }

  /** Nothing was written, so that closing waits for no disk: the way over a thread of libuv's pool would cost more than the call. */
  async close(): Promise<void> {
    closeSync(this.#descriptor);
  }
}
