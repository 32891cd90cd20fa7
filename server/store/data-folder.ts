import { ProgramError } from '../../platform/errors/program-error.ts';
import { errorText, systemErrorCode } from '../../platform/errors/system-error.ts';
import { DatabaseSync } from 'node:sqlite';
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { access, constants, lstat, readFile, readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { SEGMENTS, sealLeftSegments } from './files/file-segments.ts';
import { checkWritable, keepOwner } from './folder-owner.ts';
import { keepLockFileInMemory, LOCK_FILE as RECORDS_LOCK_FILE, prepareLockFile } from './lmdb/lock-file.ts';
import { PROBE } from './folder-probe.ts';
import { writeDurably, makeDurableFolder, removeHalfMade } from './durable-file.ts';

/** Keeps the handles of held locks alive: a collected handle would release its lock. */
const held = new Set<DatabaseSync>();

interface FolderLock {
  release(): void;
}

/**
 * Takes the lock of a data folder, or throws `ProgramError` when another process has it.
 *
 * The lock is the kernel's file lock (fcntl on Linux and macOS, LockFileEx on Windows). In Node only SQLite takes it, so this holds an
 * exclusive transaction open on an empty database. The kernel releases the lock when the process dies, so no lock is ever stale. A file
 * with a process id could be stale: in another container the same number is another process, and a socket's name outlives its server.
 * @see https://www.sqlite.org/lockingv3.html
 */
function lockFolder(path: string, file: string): FolderLock {
  checkWritable(file);
  makeLockFile(file);
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    // The journal is in memory, so that no second file appears.
    const lock = locked(path, database, 'PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    keepOwner(file);
    return lock;
  } catch (error) {
    if (error instanceof ProgramError && error.code === 'in-use' && !supportsLocks(path)) throw noLocks(path, error);
    throw error;
  }
}

/** Makes the file if it is missing: SQLite does not say why it could not. An existing file is not opened, since to close it would give up its locks. */
function makeLockFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') throw error;
  }
}

/**
 * Reports if the file system of a folder has locks. SQLite reports ENOLCK, the answer of a file server without its lock service, as a lock that
 * another process holds. No other process knows the file that this makes.
 */
function supportsLocks(folder: string): boolean {
  const file = join(folder, `${PROBE}${randomUUID()}`);
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return true;
  } catch {
    return false;
  } finally {
    database.close();
    rmSync(file, { force: true });
  }
}

/** Throws `ProgramError` if the file system of a folder has no locks. */
export function checkLocks(folder: string): void {
  if (!supportsLocks(folder)) throw noLocks(folder);
}

function noLocks(path: string, cause?: Error): ProgramError {
  return new ProgramError(
    'data-folder',
    `the data folder ${path} cannot be locked: its file system gives no locks. On NFS, start the lock service (rpc.statd), or keep the records on a local disk`,
    { cause },
  );
}

/** Takes a lock that other readers share, without a change of the file. */
function shareFolder(path: string, file: string): FolderLock {
  return locked(path, new DatabaseSync(file, { timeout: 0, readOnly: true }), 'BEGIN; SELECT 1 FROM sqlite_schema');
}

function locked(path: string, database: DatabaseSync, statements: string): FolderLock {
  try {
    database.exec(statements);
  } catch (error) {
    database.close();
    throw new ProgramError(
      isBusy(error) ? 'in-use' : 'data-folder',
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

/** Migrates a folder from one format to the next. It must be idempotent, because it runs again after a crash. */
type Migration = (folder: string) => Promise<void>;

/** The migrations by the format that they start from. */
const migrations: ReadonlyMap<number, Migration> = new Map([
  // Format 2 splits large records into chunks (`lmdb/record-tables.ts`). Whole ones are still read, and rewritten when they change.
  [1, () => Promise.resolve()],
  // Format 3 has object records of format 3 and a record of block sums for each blob. Older records are still read.
  [2, () => Promise.resolve()],
]);

const schema = z.object({ format: z.int().min(1), deploymentId: z.uuid() });

type FolderFormat = z.infer<typeof schema>;

/** Reads the format file. Returns undefined if there is none. */
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
    throw new ProgramError(
      'data-folder',
      `${file} is not a format file of Coffer: restore it from a backup of this folder`,
      {
        cause: error,
      },
    );
  }
}

/** Writes the format file of a new folder, with a new deployment ID. */
async function createFormat(file: string): Promise<FolderFormat> {
  const format = { format: FORMAT, deploymentId: randomUUID() };
  await writeFormat(file, format);
  return format;
}

/** Migrates an older folder, one format at a time. Throws `ProgramError` for a newer one. */
export async function bringForward(
  folder: string,
  file: string,
  found: FolderFormat,
  supported: { readonly format: number; readonly migrations: ReadonlyMap<number, Migration> } = {
    format: FORMAT,
    migrations,
  },
): Promise<void> {
  if (found.format > supported.format) throw newerFormat(folder, found.format, supported.format);
  for (let format = found.format; format < supported.format; format += 1) {
    const migrate = supported.migrations.get(format);
    if (migrate === undefined)
      throw new ProgramError(
        'data-folder',
        `the data folder ${folder} has format ${format}, and this server has no migration from it`,
      );
    await migrate(folder);
    await writeFormat(file, { ...found, format: format + 1 });
  }
}

function newerFormat(folder: string, found: number, known: number): ProgramError {
  return new ProgramError(
    'newer-format',
    `the data folder ${folder} has format ${found}, this server knows formats up to ${known}: ` +
      'start the newer server that wrote it',
  );
}

function writeFormat(file: string, format: FolderFormat): Promise<void> {
  return writeDurably(file, `${JSON.stringify(format, undefined, 2)}\n`);
}

/** The server's folder. This process holds its lock until `close`, or until the process dies. */
export interface DataFolder {
  readonly recordsFolder: string;
  readonly blobsFolder: string;
  /** The UUID that was made for this folder. */
  readonly deploymentId: string;
  close(): Promise<void>;
}

/** The folder of a server, which no other process may use meanwhile. */
export interface OwnDataFolder extends DataFolder {
  /**
   * Checks that the names of the lock files still lead to the files that this process has locked: after `rm lock` another server could use the
   * folder. It locks the folder again, and does nothing while its volume is away. Returns what it noticed, in words.
   *
   * @throws ProgramError `in-use` if another process has locked the folder
   */
  checkLocks(): Promise<readonly string[]>;
}

const FORMAT_FILE = 'format.json';
const LOCK_FILE = 'lock';

/** Entries of a folder that still counts as new: remains of a killed start, and entries that file systems make. */
const mayBeInNewFolder: readonly string[] = [LOCK_FILE, `${FORMAT_FILE}.new`, 'lost+found'];

/**
 * Opens a data folder, or makes one if the folder is missing or empty. Everything it makes is durable when the promise resolves.
 * Throws `ProgramError` if another server uses the folder, if it holds other files, or if a newer server wrote it.
 */
export async function openDataFolder(path: string): Promise<OwnDataFolder> {
  const folder = resolve(path);
  const recordsFolder = join(folder, 'records');
  const blobsFolder = join(folder, 'blobs');
  const formatFile = join(folder, FORMAT_FILE);
  try {
    await refuseLinkToNowhere(folder);
    await makeDurableFolder(folder);
    // The stores name a read-only file system in words of their own, which do not say the folder.
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    // The check comes before the lock, because the lock writes a file, and the folder may be a user's home.
    let format = await readFormat(formatFile);
    if (format === undefined) await refuseUnlessNew(folder);
    const lockFile = join(folder, LOCK_FILE);
    let lock = lockFolder(folder, lockFile);
    const ends: (() => void)[] = [];
    try {
      // Another server may have made the folder before this one got the lock.
      format = await readFormat(formatFile);
      if (format === undefined) format = await createFormat(formatFile);
      else await bringForward(folder, formatFile, format);
      await makeDurableFolder(recordsFolder);
      await removeHalfMade(recordsFolder);
      await makeDurableFolder(blobsFolder);
      const removeLockFile = keepLockFileInMemory(recordsFolder);
      if (removeLockFile === undefined) prepareLockFile(recordsFolder);
      else {
        // After "rm lock", a server in another container would see neither this one's lock nor its readers.
        const second = lockFolder(folder, join(recordsFolder, LOCK_FILE));
        ends.push(removeLockFile, () => second.release());
      }
      // Without a mark, on a full disk, a segment counts as sealed after an hour.
      await sealLeftSegments(join(blobsFolder, SEGMENTS)).catch(() => undefined);
    } catch (error) {
      for (const end of ends) end();
      lock.release();
      throw error;
    }
    const { deploymentId } = format;
    const recordsLock = join(recordsFolder, RECORDS_LOCK_FILE);
    let [locked, lockedRecords] = [await identityOf(lockFile), await identityOf(recordsLock)];
    return {
      recordsFolder,
      blobsFolder,
      deploymentId,
      async checkLocks() {
        const noticed: string[] = [];
        if ((await readFormat(formatFile))?.deploymentId !== deploymentId) return noticed;
        if ((await identityOf(lockFile)) !== locked) {
          const again = lockFolder(folder, lockFile);
          lock.release();
          lock = again;
          locked = await identityOf(lockFile);
          noticed.push(
            `the lock file ${lockFile} was removed or replaced while this server ran: it has locked the folder again`,
          );
        }
        const records = await identityOf(recordsLock);
        if (records !== lockedRecords) {
          lockedRecords = records;
          noticed.push(
            `the lock file ${recordsLock} was removed or replaced while this server ran: restart the server before another program opens the records`,
          );
        }
        return noticed;
      },
      close: () => {
        for (const end of ends.splice(0)) end();
        lock.release();
        return Promise.resolve();
      },
    };
  } catch (error) {
    throw explained(folder, error);
  }
}

/**
 * Opens a data folder for reading, and changes nothing in it: it may be on a read-only medium, and of an older format. Throws `ProgramError`
 * as `openDataFolder` does. A server that starts meanwhile is kept away by a shared lock, where the folder has a lock file.
 */
export async function openDataFolderReadOnly(path: string): Promise<DataFolder> {
  const folder = resolve(path);
  try {
    const format = await readFormat(join(folder, FORMAT_FILE));
    if (format === undefined) {
      throw new ProgramError('data-folder', `${folder} is not a data folder of Coffer: it has no ${FORMAT_FILE}`);
    }
    if (format.format > FORMAT) throw newerFormat(folder, format.format, FORMAT);
    const file = join(folder, LOCK_FILE);
    const lock = existsSync(file) ? shareFolder(folder, file) : undefined;
    return {
      recordsFolder: join(folder, 'records'),
      blobsFolder: join(folder, 'blobs'),
      deploymentId: format.deploymentId,
      close: () => {
        lock?.release();
        return Promise.resolve();
      },
    };
  } catch (error) {
    throw explained(folder, error);
  }
}

/** Returns device and inode of a file, or undefined if it is not there. It opens nothing: to close the file would give up its locks. */
async function identityOf(file: string): Promise<string | undefined> {
  try {
    const { dev, ino } = await stat(file, { bigint: true });
    return `${dev}:${ino}`;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function refuseLinkToNowhere(folder: string): Promise<void> {
  const isLink = await lstat(folder).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );
  if (!isLink || existsSync(folder)) return;
  throw new ProgramError(
    'data-folder',
    `the data folder ${folder} is a link to a folder that does not exist: mount its volume, or make that folder`,
  );
}

/** The file of a folder into which a snapshot is being restored. */
export const UNFINISHED_RESTORE = 'restore-unfinished';

/** Returns the message about a folder that a restore did not finish, with its cure. */
export function unfinishedRestore(folder: string): string {
  return `a restore to ${folder} was not finished: restore the same snapshot to it again ("coffer-store restore SNAPSHOT ${folder}")`;
}

async function refuseUnlessNew(folder: string): Promise<void> {
  const names = (await readdir(folder)).sort();
  if (names.includes(UNFINISHED_RESTORE)) throw new ProgramError('data-folder', unfinishedRestore(folder));
  const stranger = names.find((name) => !mayBeInNewFolder.includes(name));
  if (stranger === '.minio.sys') {
    throw new ProgramError(
      'data-folder',
      `the folder ${folder} holds data of MinIO, which Coffer cannot read: name an empty folder, and copy from a MinIO that runs (docs/guides/migration.md)`,
    );
  }
  if (stranger !== undefined) {
    throw new ProgramError(
      'data-folder',
      `the folder ${folder} holds ${JSON.stringify(stranger)} and no data of Coffer: name an empty folder, or one that does not exist yet`,
    );
  }
}

function explained(folder: string, error: unknown): unknown {
  if (error instanceof ProgramError || !(error instanceof Error && 'code' in error)) return error;
  return new ProgramError('data-folder', `the data folder ${folder} cannot be used: ${errorText(error)}`, {
    cause: error,
  });
}
