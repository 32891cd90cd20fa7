import { systemErrorCode } from '../../../platform/errors/system-error.ts';
import { isNoRoom, StoreError } from '../store-error.ts';
import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { threadId } from 'node:worker_threads';

const MDB_MAP_FULL = -30_792;
const MDB_TXN_FULL = -30_788;
const full: readonly unknown[] = [MDB_MAP_FULL, MDB_TXN_FULL];

/** A failed write means a full disk if there is less space than this, which is what the pages of one group may take. */
export const GROUP_SPACE = 32 * 1024 * 1024;

interface Circumstances {
  /** The record file. */
  readonly file: string;
  /** Resolves to true if the disk had space for the transaction. */
  readonly wasThereRoom: () => Promise<boolean>;
  /** True if LMDB refuses every further transaction. */
  readonly isGivenUp: boolean;
}

/**
 * Translates an error of LMDB. The transaction was aborted and nothing was changed.
 *
 * LMDB reports a partial write as an input/output error, so `wasThereRoom` decides if the disk was full. It gives the file up if it could
 * not write its last page, also for want of room, so such an error is never one of a full disk.
 */
export async function unavailable(
  error: unknown,
  { file, wasThereRoom, isGivenUp }: Circumstances,
): Promise<StoreError> {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (isGivenUp) return failed(error, file, message);
  if (isNoRoom(error) || full.includes(code) || (systemErrorCode(error) === 'EIO' && !(await wasThereRoom()))) {
    return new StoreError('full', `no space is left for records in ${file}: ${message}`, { cause: error });
  }
  return failed(error, file, message);
}

function failed(cause: unknown, file: string, message: string): StoreError {
  return new StoreError('unreachable', `the record file ${file} failed: ${message}`, { cause });
}

/** Returns true for the error of a file that LMDB has given up. Its code is another one where the file was open for reading already. */
export function isOfGivenUpFile(error: unknown): error is Error {
  return error instanceof Error && error.message.includes('MDB_PANIC');
}

/** Reports if LMDB met a page that is damaged. A start that looks at all pages names it. */
export function isOfDamagedFile(error: unknown): error is Error {
  return error instanceof Error && /MDB_(PAGE_NOTFOUND|CORRUPTED)/.test(error.message);
}

/** Returns the error of a failed record file: see `StoreError`. */
export function recordFileFailed(cause: Error): StoreError {
  return new StoreError(
    'record-file-failed',
    `the record file must be opened again; check the disk: ${cause.message}`,
    { cause },
  );
}

/**
 * Returns the cause of a failed commit. lmdb-js rejects with an error that has a promise of the cause, which may never settle: `last` returns the
 * last error of the write thread (`failed-writes.ts`).
 */
export async function causeOf(failure: unknown, last: () => Error | undefined): Promise<unknown> {
  if (!(failure instanceof Error) || !('commitError' in failure)) return failure;
  const told = new AbortController();
  const wait = sleep(CAUSE_WAIT_MS, undefined, { signal: told.signal }).catch(() => undefined);
  try {
    await Promise.race([failure.commitError, wait]);
    return last() ?? failure;
  } catch (cause) {
    return cause;
  } finally {
    told.abort();
  }
}

/** lmdb-js tells the cause when its write thread has ended, which is a moment later at most. */
const CAUSE_WAIT_MS = 1_000;

/**
 * Returns true if the folder has space for one transaction. It writes a file to find out, because the free space of the disk does not
 * show quotas and limits of this process. A disk that fails for another reason counts as one with space.
 */
export function isThereRoomIn(folder: string): boolean {
  const path = join(folder, `room-${process.pid}-${threadId}`);
  let file: number | undefined;
  try {
    file = openSync(path, 'w', 0o600);
    // The kernel frees the file when the process ends.
    unlinkSync(path);
    const chunk = Buffer.alloc(1024 * 1024);
    for (let at = 0; at < GROUP_SPACE; at += chunk.length) writeAll(file, chunk, at);
    return true;
  } catch (error) {
    return !isNoRoom(error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function writeAll(file: number, bytes: Buffer, at: number): void {
  for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done, bytes.length - done, at + done);
}
