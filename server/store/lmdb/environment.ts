import { randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { chmod, mkdir } from 'node:fs/promises';
import { open, type RootDatabase } from 'lmdb';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { fileErrorReason, systemErrorCode } from '../../../platform/errors/system-error.ts';
import { keepOwner } from '../folder-owner.ts';
import { addressSpace } from './address-space.ts';
import { HALF_MADE, syncFile, syncFolder } from '../durable-file.ts';
import { isNoRoom, StoreError } from '../store-error.ts';
import { RecordTables } from './record-tables.ts';

export interface Environment {
  readonly root: RootDatabase<Buffer, Buffer>;
  readonly tables: RecordTables;
}

export const RECORD_FILE = 'data.mdb';

/** The file beside the records of a server that has not run for long (`server/process/run-mark.ts`). */
export const RUN_MARK = 'running.json';

/**
 * Opens an environment. The map is large from the start, because LMDB would otherwise move it while other threads read.
 * @see https://github.com/kriszyp/lmdb-js#options
 */
export function openEnvironment(folder: string, mapSize: number = 2 ** 40, readOnly = false): Environment {
  checkAddressSpace(folder, mapSize);
  // The types of lmdb-js do not have these options.
  const options = {
    permissionsMode: 0o600,
    // The limits of the in-memory list of free pages. Every commit of lmdb-js checks that list against itself, which costs the square
    // of its length. A short list suffices, because values need single pages only (`record-tables.ts`).
    maxFreeSpaceToLoad: 1_000,
    maxFreeSpaceToRetain: 2_000,
  };
  const root = opened(folder, {
    path: folder,
    noSubdir: false,
    readOnly,
    // Readers see a commit only when it is durable.
    overlappingSync: false,
    // `commit.ts` batches. The batching of lmdb-js makes a promise without a handler, so a failed commit would end the process.
    eventTurnBatching: false,
    keyEncoding: 'binary',
    encoding: 'binary',
    cache: false,
    mapSize,
    // Each thread needs a slot, and a crashed process may leave its slots behind.
    maxReaders: 1024,
    ...options,
  });
  return { root, tables: new RecordTables(root) };
}

/** lmdb-js 3.5 ends the process by SIGSEGV without a word where the map has no room. */
function checkAddressSpace(folder: string, mapSize: number): void {
  const space = addressSpace();
  if (space === undefined || space.limit - space.used >= mapSize) return;
  const [limit, map] = [space.limit, mapSize].map((bytes) => `${Math.ceil(bytes / 2 ** 30)} GiB`);
  throw new ProgramError(
    'record-file',
    `the records in ${folder} cannot be opened: the address space of this process is limited to ${limit}, and the map of the records takes ${map} of it ` +
      '(no memory). Remove the limit ("ulimit -v unlimited", or LimitAS=infinity of systemd)',
  );
}

/** @throws ProgramError with the path: the errors of LMDB have none */
function opened(folder: string, options: Parameters<typeof open>[0]): RootDatabase<Buffer, Buffer> {
  try {
    return open<Buffer, Buffer>(options);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ProgramError('record-file', `the records in ${folder} cannot be opened: ${reason}`, { cause: error });
  }
}

/**
 * Makes the record file if the folder has none. LMDB writes the first pages of a new file without a flush between them. If a power cut
 * keeps only some of them, every process that opens the file crashes (SIGSEGV in LMDB 0.9). So the file is made in a temporary folder,
 * flushed, and then linked to its name. The caller flushes the folder. Several threads may do this at the same time.
 */
export function makeEnvironment(folder: string): void {
  const file = join(folder, RECORD_FILE);
  if (existsSync(file)) return;
  const beside = join(folder, `${HALF_MADE}${randomUUID()}`);
  mkdirSync(beside, { mode: 0o700 });
  try {
    // `close` is synchronous here, because no write is pending and the environment is not shared.
    void openEnvironment(beside).root.close();
    sync(join(beside, RECORD_FILE));
    becomes(join(beside, RECORD_FILE), file);
    keepOwner(file);
    checkReadable(file);
  } catch (error) {
    // Another thread was first and made the same file.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(beside, { recursive: true });
  }
}

/** Reads what LMDB reads first. Where that fails, lmdb-js 3.5 ends the process by SIGSEGV without a word. */
function checkReadable(file: string): void {
  try {
    const descriptor = openSync(file, 'r');
    try {
      readSync(descriptor, Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw new ProgramError('record-file', `the record file ${file} cannot be read: ${fileErrorReason(error)}`, {
      cause: error,
    });
  }
}

/** The two pages with which the file begins. */
const HEADER_BYTES = 2 * 4096;

const noLinks: ReadonlySet<string | undefined> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Gives a complete file its name, as of one moment. Fails with EEXIST if the name is taken. */
function becomes(beside: string, file: string): void {
  try {
    linkSync(beside, file);
  } catch (error) {
    if (!noLinks.has(systemErrorCode(error))) throw error;
    renameExclusively(beside, file);
  }
}

/** SMB and exFAT have no hard links. A rename would replace the file of another thread, so the threads take turns by a folder. */
function renameExclusively(beside: string, file: string): void {
  const turn = join(dirname(file), `${HALF_MADE}turn`);
  for (let waited = 0; ; waited += TURN_WAIT) {
    try {
      mkdirSync(turn);
      break;
    } catch (error) {
      if (systemErrorCode(error) !== 'EEXIST' || waited > MAX_TURN) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, TURN_WAIT);
    }
  }
  try {
    if (!existsSync(file)) renameSync(beside, file);
  } finally {
    rmdirSync(turn);
  }
}

/** Milliseconds. A start removes what a killed one left (`removeHalfMade`). */
const TURN_WAIT = 10;
const MAX_TURN = 30_000;

function sync(path: string): void {
  const descriptor = openSync(path, 'r+');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Copies the records as of one moment into a new folder, while the store is in use. The copy is durable when the promise resolves. It
 * leaves out unused pages.
 *
 * The copy uses the handle that is in use: lmdb-js 3.5.6 blocks every writer forever once a thread opens and closes a second handle of
 * an environment that it writes to.
 */
export async function backupLmdb(root: RootDatabase<Buffer, Buffer>, target: string): Promise<void> {
  await mkdir(target, { mode: 0o700 });
  try {
    await root.backup(target, true);
  } catch (error) {
    // The errors of LMDB have no path.
    const reason = isNoRoom(error) ? 'no space is left on the device' : fileErrorReason(error);
    throw new StoreError(
      isNoRoom(error) ? 'full' : 'unreachable',
      `the records cannot be copied to ${target}: ${reason}`,
      {
        cause: error,
      },
    );
  }
  const file = join(target, 'data.mdb');
  await chmod(file, 0o600);
  await syncFile(file);
  await syncFolder(target);
}
