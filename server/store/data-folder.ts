import { DatabaseSync } from 'node:sqlite';
import { randomUUID } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { writeDurably, makeDurableFolder, removeHalfMade } from './durable-file.ts';

/** The data folder cannot be used; the message says why and what to do. */
export class DataFolderError extends Error {
  override readonly name = 'DataFolderError';
}

/** Keeps the handles of locks that are held: one that is collected would be let go. */
const held = new Set<DatabaseSync>();

interface FolderLock {
  release(): void;
}

/**
 * Takes the lock of a data folder, or throws `DataFolderError` when another process has it.
 *
 * It is the kernel's own lock of a file (fcntl on Linux and macOS, LockFileEx on Windows), which nothing in Node takes but SQLite: an
 * open exclusive transaction on a database that stays empty. The kernel lets it go when the process dies, however it dies, so no
 * lock is ever stale. A file with a process id would be: in another container the same number means another process, and a
 * socket's name outlives its server.
 * @see https://www.sqlite.org/lockingv3.html
 */
function lockFolder(path: string, file: string): FolderLock {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    // In memory, so that no journal appears beside the lock.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    throw new DataFolderError(
      isBusy(error)
        ? `the data folder ${path} is in use by another server: stop that one, or give this one a folder of its own`
        : `the data folder ${path} cannot be locked: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
  held.add(database);
  return {
    release: () => {
      if (held.delete(database)) database.close();
    },
  };
}

const SQLITE_BUSY = 5;

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
}

/** The format of data folders this server writes. */
const FORMAT = 3;

/** Brings a folder from one format to the next. Run again after a crash, it must end the same. */
type Migration = (folder: string) => Promise<void>;

/** By the format they start from. */
const migrations: ReadonlyMap<number, Migration> = new Map([
  // Large records are in pieces (`lmdb/record-tables.ts`) from format 2 on: whole ones are read as before, and rewritten when they change.
  [1, () => Promise.resolve()],
  // Objects' records are of format 3, and blobs have records of their block sums: older ones are read as before.
  [2, () => Promise.resolve()],
]);

const schema = z.object({ format: z.int().min(1), deploymentId: z.uuid() });

type FolderFormat = z.infer<typeof schema>;

/** What the folder's format file says; undefined when there is none. */
export async function readFormat(file: string): Promise<FolderFormat | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw new DataFolderError(`${file} is not a format file of Coffer: restore it from a backup of this folder`, {
      cause: error,
    });
  }
}

/** A format file for a new folder, with a deployment ID of its own. */
async function createFormat(file: string): Promise<FolderFormat> {
  const format = { format: FORMAT, deploymentId: randomUUID() };
  await writeFormat(file, format);
  return format;
}

/** Brings an older folder forward, one format at a time; throws `DataFolderError` for a newer one. */
export async function bringForward(
  folder: string,
  file: string,
  found: FolderFormat,
  supported: { readonly format: number; readonly migrations: ReadonlyMap<number, Migration> } = {
    format: FORMAT,
    migrations,
  },
): Promise<void> {
  if (found.format > supported.format) {
    throw new DataFolderError(
      `the data folder ${folder} has format ${found.format}, this server knows formats up to ${supported.format}: ` +
        'start the newer server that wrote it',
    );
  }
  for (let format = found.format; format < supported.format; format += 1) {
    const migrate = supported.migrations.get(format);
    if (migrate === undefined)
      throw new DataFolderError(`no way leads from format ${format} of the data folder ${folder} to ${format + 1}`);
    await migrate(folder);
    await writeFormat(file, { ...found, format: format + 1 });
  }
}

function writeFormat(file: string, format: FolderFormat): Promise<void> {
  return writeDurably(file, `${JSON.stringify(format, undefined, 2)}\n`);
}

/** The server's folder, locked by this process until `close` or its death. */
export interface DataFolder {
  readonly recordsFolder: string;
  readonly blobsFolder: string;
  /** A UUID made once for this folder. */
  readonly deploymentId: string;
  close(): Promise<void>;
}

const FORMAT_FILE = 'format.json';
const LOCK_FILE = 'lock';

/** What a folder may have in it and still be new: what a start that was killed left, and what file systems put there. */
const mayBeInNewFolder: readonly string[] = [LOCK_FILE, `${FORMAT_FILE}.new`, 'lost+found'];

/**
 * Opens a data folder, or makes a new one where there is none or an empty one. Everything it makes is durable when it resolves.
 * Throws `DataFolderError` when another server uses the folder, when it holds something else, or when a newer server wrote it.
 */
export async function openDataFolder(path: string): Promise<DataFolder> {
  const folder = resolve(path);
  const recordsFolder = join(folder, 'records');
  const blobsFolder = join(folder, 'blobs');
  const formatFile = join(folder, FORMAT_FILE);
  try {
    await makeDurableFolder(folder);
    // Looked at before the lock's file is put into what may be somebody's home.
    let format = await readFormat(formatFile);
    if (format === undefined) await refuseUnlessNew(folder);
    const lock = lockFolder(folder, join(folder, LOCK_FILE));
    try {
      // Again under the lock: another server may have made it meanwhile.
      format = await readFormat(formatFile);
      if (format === undefined) format = await createFormat(formatFile);
      else await bringForward(folder, formatFile, format);
      await makeDurableFolder(recordsFolder);
      await removeHalfMade(recordsFolder);
      await makeDurableFolder(blobsFolder);
    } catch (error) {
      lock.release();
      throw error;
    }
    return {
      recordsFolder,
      blobsFolder,
      deploymentId: format.deploymentId,
      close: () => {
        lock.release();
        return Promise.resolve();
      },
    };
  } catch (error) {
    throw explained(folder, error);
  }
}

async function refuseUnlessNew(folder: string): Promise<void> {
  const stranger = (await readdir(folder)).find((name) => !mayBeInNewFolder.includes(name));
  if (stranger !== undefined) {
    throw new DataFolderError(
      `the folder ${folder} holds ${JSON.stringify(stranger)} and no data of Coffer: name an empty folder, or one that does not exist yet`,
    );
  }
}

function explained(folder: string, error: unknown): unknown {
  if (error instanceof DataFolderError || !(error instanceof Error && 'code' in error)) return error;
  return new DataFolderError(`the data folder ${folder} cannot be used: ${error.message}`, { cause: error });
}
