import type { VolumeSpace } from '../volume-space.ts';
import { systemErrorCode } from '../../../platform/errors/system-error.ts';

/**
 * The calls that the files engine makes to a file system. A test replaces it to check the order of writes and flushes, and to cut the
 * power between any two of them. Errors have the system's `code` (`ENOENT`, `EEXIST`, `ENOSPC`, …).
 */
export interface BlobFileSystem {
  /** Makes a folder that only this user can read. An existing folder is not an error. */
  makeFolder(path: string): Promise<void>;
  /**
   * Creates a file that only this user can read. Fails with `EEXIST` if the name is taken. With `direct`, the caller writes chunks of
   * whole pages, which may bypass the page cache.
   */
  create(path: string, how?: { readonly direct: boolean }): Promise<NewFile>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** Flushes the names in a folder. */
  syncFolder(path: string): Promise<void>;
  /** Opens a file for reading. Fails with `ELOOP` if the last part of the path is a symbolic link. */
  open(path: string): Promise<OpenFile>;
  /** Lists the names in a folder. A missing folder has none. */
  names(path: string): AsyncIterable<string>;
  stat(path: string): Promise<FileStat>;
  /** Returns the device and inode of a folder. */
  identity(path: string): Promise<string>;
  space(path: string): Promise<VolumeSpace>;
  /**
   * True where other machines write to the same files. The kernel looks for their changes only when a file is opened: a handle that stays
   * open may show too few bytes, or zeros.
   */
  readonly shared?: boolean;
}

export interface FileStat {
  readonly size: number;
  readonly modifiedMs: number;
}

export interface NewFile {
  /** True where `writeAt` of whole pages bypasses the page cache. */
  readonly isDirect: boolean;
  /** Writes all of these bytes at this position, by default where the last call without a position ended. */
  write(chunks: readonly Buffer[], position?: number): Promise<void>;
  /** Writes all of these bytes at this position. Writes to different positions may run concurrently. */
  writeAt(bytes: Buffer, position: number): Promise<void>;
  /** Makes the file shorter. */
  truncate(length: number): Promise<void>;
  /** Flushes the file's bytes and length, but not its name. */
  syncData(): Promise<void>;
  close(): Promise<void>;
}

export interface OpenFile {
  /** Reads into the buffer from this position. Returns the number of bytes, 0 at the end. */
  read(into: Buffer, position: number): Promise<number>;
  /** Undefined if it is not a regular file. */
  size(): Promise<number | undefined>;
  close(): Promise<void>;
}

export function isNoSuchFile(error: unknown): boolean {
  return systemErrorCode(error) === 'ENOENT';
}
