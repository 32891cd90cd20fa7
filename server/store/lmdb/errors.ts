import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { StoreUnavailable } from '../record-store.ts';

const MDB_MAP_FULL = -30_792;
const MDB_TXN_FULL = -30_788;
const { EDQUOT, EFBIG, EIO, ENOSPC } = constants.errno;
const full: readonly unknown[] = [MDB_MAP_FULL, MDB_TXN_FULL, ENOSPC, EDQUOT, EFBIG];

/** Where there is not room for so many bytes, a failed write is taken for one that found none: a group's pages may be as many. */
const ROOM = 32 * 1024 * 1024;

/**
 * What callers see of an error of LMDB's: the transaction was aborted, nothing was changed.
 *
 * LMDB reports a write that found room for a part only as an input/output error, so whether there is room decides what that was.
 */
export function unavailable(error: unknown, isThereRoom: () => boolean): StoreUnavailable {
  const message = error instanceof Error ? error.message : String(error);
  const code = codeOf(error);
  if (full.includes(code) || (code === EIO && !isThereRoom())) {
    return new StoreUnavailable('full', `no space is left for records: ${message}`, { cause: error });
  }
  return new StoreUnavailable('unreachable', `the record store failed: ${message}`, { cause: error });
}

/**
 * A write or a flush of the record file failed, and not for want of room. What the disk holds now nobody can tell: the system drops
 * what it could not flush and calls it clean, and LMDB refuses everything, reads too, once its last page could not be written. Only
 * a process that opens the file anew knows.
 *
 * @see https://wiki.postgresql.org/wiki/Fsync_Errors
 */
export class RecordFileFailed extends Error {
  override readonly name = 'RecordFileFailed';
  constructor(cause: Error) {
    super(`the record file cannot be relied on until it is opened anew; look at the disk: ${cause.message}`, { cause });
  }
}

/** lmdb-js rejects a failed commit with an error that only promises the cause. */
export async function causeOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !('commitError' in error)) return error;
  try {
    await error.commitError;
    return error;
  } catch (cause) {
    return cause;
  }
}

/**
 * Whether the folder has room for what one transaction may write. Tried, because the free space does not tell what a quota or a
 * limit leaves to this process; a disk that fails otherwise may have room.
 */
export function isThereRoomIn(folder: string): boolean {
  const path = join(folder, `room-${process.pid}-${threadId}`);
  let file: number | undefined;
  try {
    file = openSync(path, 'w', 0o600);
    // From now on it goes with the process.
    unlinkSync(path);
    const piece = Buffer.alloc(1024 * 1024);
    for (let at = 0; at < ROOM; at += piece.length) writeAll(file, piece, at);
    return true;
  } catch (error) {
    return !['ENOSPC', 'EDQUOT', 'EFBIG'].includes(String(codeOf(error)));
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function writeAll(file: number, bytes: Buffer, at: number): void {
  for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done, bytes.length - done, at + done);
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
