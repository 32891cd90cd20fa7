import { randomUUID } from 'node:crypto';
import { chmodSync, constants, renameSync, statSync, utimesSync, writeFileSync, writeSync, type Stats } from 'node:fs';
import {
  chmod,
  copyFile,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import { descriptorOf } from '../../../config/descriptor-path.ts';
import type { BodySink } from '../../../s3/connection/direct-body.ts';
import { isTransient } from '../../../s3/retry.ts';
import { isTemporaryName, temporaryName, temporaryPrefix } from '../entries/temporary-files.ts';
import { isDiskFast, onThisThread } from '../entries/disk-calls.ts';
import { writeOut } from '../../../terminal/io.ts';
import { inMemory, memoryLimit, type ByteSource, type ExpectUnchanged } from './byte-source.ts';

/** Bytes. A temporary file that has as many is kept after an interruption, so that the next download continues it. */
const worthKeeping = 1_024 * 1_024;

/** Milliseconds. A temporary file that changed within this time may belong to another process. */
const staleAfter = 60_000;

/** The folders of a tree that is copied come one after the other. */
const maxKnownFolders = 64;

/**
 * Writes sources to temporary files, and renames each when it is complete. The name of a temporary file is that of its source too, so that
 * a download that was killed is continued by the same command. A device, a pipe and an open file, such as `/dev/stdout`, are written directly.
 */
export class Downloads {
  readonly #signal: AbortSignal;
  readonly #stdout: Writable;
  /** The temporary files that were in the last folders. */
  readonly #folders = new Map<string, Promise<readonly string[]>>();

  constructor({ signal, stdout }: { readonly signal: AbortSignal; readonly stdout: Writable }) {
    this.#signal = signal;
    this.#stdout = stdout;
  }

  /** `count` gets the bytes that are on the disk, also those of the killed download. */
  async write(source: ByteSource, path: string, count: (bytes: number) => void): Promise<void> {
    const existing = await statsOf(path);
    if (existing !== undefined && !existing.isDirectory() && (await this.#isStream(path, existing))) {
      if ((await descriptorOf(path)) === 1) await this.#toStandardOutput(source, count);
      else await writeFrom(await open(path, 'a'), source, 0, count);
      return;
    }
    const kept = { begun: new Date(), mode: modeOf(existing) };
    const { identity = randomUUID() } = source;
    const own = temporaryName(basename(path), `${identity} ${source.size}`);
    const left = await this.#prepare(dirname(path));
    await removeStale(dirname(path), basename(path), left, own);
    const temporary = join(dirname(path), own);
    // The size of a stream is not known.
    if (source.identity === undefined || source.size > memoryLimit) {
      await this.#throughTemporary(source, { temporary, path, ...kept }, count);
    } else {
      await writeSmall(await inMemory(source.open(0, source.size)), { temporary, path, ...kept });
      count(source.size);
    }
  }

  /** Copies a file of this machine. A copy that is killed leaves no half of it under the name. */
  async copyFile(from: string, path: string, identity: string, expectUnchanged: ExpectUnchanged): Promise<void> {
    const existing = await statsOf(path);
    if (existing?.isDirectory() === true || (existing !== undefined && (await this.#isStream(path, existing)))) {
      await copyFile(from, path);
      await expectUnchanged();
      return;
    }
    const own = temporaryName(basename(path), identity);
    const left = await this.#prepare(dirname(path));
    await removeStale(dirname(path), basename(path), left, own);
    const temporary = join(dirname(path), own);
    try {
      // That of a killed copy may be read-only.
      if (left.includes(own)) await rm(temporary, { force: true });
      await copyFile(from, temporary);
      await expectUnchanged();
      const mode = modeOf(existing);
      if (mode !== undefined) await chmod(temporary, mode);
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  /** Reports whether a new file must not take the place of what is there. */
  async #isStream(path: string, existing: Stats): Promise<boolean> {
    return !existing.isFile() || (await descriptorOf(path)) !== undefined;
  }

  async #toStandardOutput(source: ByteSource, count: (bytes: number) => void): Promise<void> {
    for await (const bytes of source.open(0, source.size)) {
      await writeOut({ stdout: this.#stdout, signal: this.#signal }, Buffer.from(bytes));
      count(bytes.length);
    }
  }

  async #throughTemporary(source: ByteSource, names: Names, count: (bytes: number) => void): Promise<void> {
    const { temporary } = names;
    let written = 0;
    try {
      // The bytes of the killed download stay.
      const file = await open(temporary, constants.O_WRONLY | constants.O_CREAT);
      const { size } = await file.stat();
      const start = size <= source.size ? size : 0;
      if (start < size) await file.truncate();
      written = start;
      if (start > 0) count(start);
      const counted = (bytes: number): void => {
        written += bytes;
        count(bytes);
      };
      await receiveInto(file, source, start, counted);
      await writeFrom(file, source, written, counted);
      await moveInto(names, source.size);
    } catch (error) {
      const isInterrupted = this.#signal.aborted || isTransient(error);
      const isKept = isInterrupted && source.identity !== undefined && written >= worthKeeping;
      if (!isKept) await rm(temporary, { force: true });
      throw error;
    }
  }

  /** Makes a folder, and returns the temporary files that were in it. */
  async #prepare(folder: string): Promise<readonly string[]> {
    const known = this.#folders.get(folder);
    if (known !== undefined) return known;
    const prepared = prepareFolder(folder);
    this.#folders.set(folder, prepared);
    const [oldest] = this.#folders.keys();
    if (this.#folders.size > maxKnownFolders && oldest !== undefined) this.#folders.delete(oldest);
    return prepared;
  }
}

async function statsOf(path: string): Promise<Stats | undefined> {
  if (!isDiskFast()) return stat(path).catch(() => undefined);
  try {
    return onThisThread(() => statSync(path, { throwIfNoEntry: false }));
  } catch {
    return undefined;
  }
}

/** The names of a download before and after it is complete. */
interface Names {
  readonly temporary: string;
  readonly path: string;
  /**
   * When the download began, which the file gets as its time. An object that is replaced during the download is newer, so that a mirror does not
   * take the file for the new one.
   */
  readonly begun: Date;
  /** The permission bits of the file that it replaces; undefined for a new one. */
  readonly mode: number | undefined;
}

function modeOf(existing: Stats | undefined): number | undefined {
  return existing?.isFile() === true ? existing.mode & 0o777 : undefined;
}

/** Writes a file that is not worth continuing. */
async function writeSmall(bytes: Uint8Array, names: Names): Promise<void> {
  const { temporary } = names;
  try {
    if (isDiskFast()) onThisThread(() => writeFileSync(temporary, bytes));
    else await writeFile(temporary, bytes);
    await moveInto(names, bytes.length);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Another process that downloads the same object may have moved the file. */
async function moveInto({ temporary, path, begun, mode }: Names, size: number): Promise<void> {
  try {
    if (isDiskFast()) {
      onThisThread(() => {
        utimesSync(temporary, begun, begun);
        if (mode !== undefined) chmodSync(temporary, mode);
        renameSync(temporary, path);
      });
      return;
    }
    await utimes(temporary, begun, begun);
    if (mode !== undefined) await chmod(temporary, mode);
    await rename(temporary, path);
  } catch (error) {
    const there = await stat(path).catch(() => undefined);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || there?.size !== size) throw error;
  }
}

async function prepareFolder(folder: string): Promise<readonly string[]> {
  if ((await mkdir(folder, { recursive: true })) !== undefined) return [];
  return (await readdir(folder)).filter((name) => isTemporaryName(name));
}

/** Removes what killed downloads of other sources left behind for a name. */
async function removeStale(folder: string, name: string, left: readonly string[], own: string): Promise<void> {
  if (left.length === 0) return;
  const prefix = temporaryPrefix(name);
  for (const other of left) {
    if (other === own || !other.startsWith(prefix)) continue;
    const found = await stat(join(folder, other)).catch(() => undefined);
    if (found !== undefined && Date.now() - found.mtimeMs > staleAfter) await rm(join(folder, other), { force: true });
  }
}

/** Bytes that are written at once. The next ones are received meanwhile. */
const writtenAtOnce = 1_024 * 1_024;

/** Writes the bytes from `start` to their places, and closes the file. */
async function writeFrom(
  file: FileHandle,
  source: ByteSource,
  start: number,
  count: (bytes: number) => void,
): Promise<void> {
  // A device has no positions.
  let position = start === 0 ? undefined : start;
  const write = async (chunks: readonly Buffer[], length: number): Promise<void> => {
    await writeChunks(file, chunks, length, position);
    if (position !== undefined) position += length;
    count(length);
  };
  let writing = Promise.resolve();
  try {
    let chunks: Buffer[] = [];
    let length = 0;
    for await (const bytes of source.open(start, source.size)) {
      chunks.push(bytes);
      length += bytes.length;
      if (length < writtenAtOnce) continue;
      await writing;
      writing = write(chunks, length);
      // The failure surfaces when the next chunks are written, or at the end.
      writing.catch(() => undefined);
      chunks = [];
      length = 0;
    }
    await writing;
    if (length > 0) await write(chunks, length);
  } finally {
    await writing.catch(() => undefined);
    await file.close();
  }
}

/** Bytes. A shorter body does not pay for a connection of its own. */
const worthReceiving = 4 * 1_024 * 1_024;

/** Receives what the source can hand over without a copy. A failure closes the file. */
async function receiveInto(
  file: FileHandle,
  source: ByteSource,
  start: number,
  count: (bytes: number) => void,
): Promise<void> {
  if (source.receive === undefined || source.size - start < worthReceiving) return;
  try {
    await source.receive(start, source.size, sinkOf(file, start, count));
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Writes the bytes to their places: on this thread as long as the disk is fast. */
function sinkOf(file: FileHandle, start: number, count: (bytes: number) => void): BodySink {
  let position = start;
  const written = (length: number): undefined => {
    position += length;
    count(length);
  };
  const writeLater = async (bytes: Buffer): Promise<void> => {
    await writeChunks(file, [bytes], bytes.length, position);
    written(bytes.length);
  };
  return (bytes) => {
    if (!isDiskFast()) return writeLater(bytes);
    onThisThread(() => {
      for (let at = 0; at < bytes.length;) at += writeSync(file.fd, bytes, at, bytes.length - at, position + at);
    });
    return written(bytes.length);
  };
}

async function writeChunks(
  file: FileHandle,
  chunks: readonly Buffer[],
  length: number,
  position: number | undefined,
): Promise<void> {
  const { bytesWritten } = await file.writev(chunks, position);
  if (bytesWritten === length) return;
  // A pipe takes what it has room for.
  const rest = Buffer.concat(chunks).subarray(bytesWritten);
  for (let at = 0; at < rest.length;) {
    const from = position === undefined ? null : position + bytesWritten + at;
    at += (await file.write(rest, at, rest.length - at, from)).bytesWritten;
  }
}
