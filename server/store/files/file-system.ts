/**
 * What the files engine does to a file system, and nothing else: so that a test can watch the order of its writes and flushes, and
 * cut the power between any two of them. Errors carry the system's `code` (`ENOENT`, `EEXIST`, `ENOSPC`, …).
 */
export interface BlobFileSystem {
  /** A folder of this user only; one that is there is fine. */
  makeFolder(path: string): Promise<void>;
  /**
   * A new file of this user only; `EEXIST` when there is one. `direct` says that it is written by pieces of whole pages, which then
   * need not pass through the page cache.
   */
  create(path: string, how?: { readonly direct: boolean }): Promise<NewFile>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** Makes the names in a folder durable. */
  syncFolder(path: string): Promise<void>;
  /** For reading; `ELOOP` where the last part of the path is a symbolic link. */
  open(path: string): Promise<OpenFile>;
  /** Names in a folder; none when there is no such folder. */
  names(path: string): AsyncIterable<string>;
  stat(path: string): Promise<{ readonly size: number; readonly modifiedMs: number }>;
  space(path: string): Promise<{ readonly free: number; readonly total: number }>;
}

export interface NewFile {
  /** Appends all of these bytes. */
  write(chunks: readonly Buffer[]): Promise<void>;
  /** Writes all of these bytes from this position on; several at once where they are apart. */
  writeAt(bytes: Buffer, position: number): Promise<void>;
  /** Makes the file's bytes and length durable, not its name. */
  syncData(): Promise<void>;
  close(): Promise<void>;
}

export interface OpenFile {
  /** Fills the buffer from this position on; how many bytes there were, 0 at the end. */
  read(into: Buffer, position: number): Promise<number>;
  /** Undefined where it is no regular file. */
  size(): Promise<number | undefined>;
  close(): Promise<void>;
}

export function isNoSuchFile(error: unknown): boolean {
  return codeOf(error) === 'ENOENT';
}

export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
