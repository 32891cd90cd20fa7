import { constants } from 'node:os';
import { StoreUnavailable } from '../record-store.ts';

const MDB_MAP_FULL = -30_792;
const MDB_TXN_FULL = -30_788;
const { EDQUOT, EFBIG, EIO, ENOSPC } = constants.errno;
const full: readonly unknown[] = [MDB_MAP_FULL, MDB_TXN_FULL, ENOSPC, EDQUOT, EFBIG];

/** Less free space than this, in bytes, and a failed write is taken for one that found no room: a group's pages may be as many. */
const NO_ROOM = 32 * 1024 * 1024;

/**
 * What callers see of an error of LMDB's: the transaction was aborted, nothing was changed.
 *
 * LMDB reports a write that found room for a part only as an input/output error, so the free space decides what that was.
 */
export function unavailable(error: unknown, freeBytes: number): StoreUnavailable {
  const message = error instanceof Error ? error.message : String(error);
  const code = codeOf(error);
  if (full.includes(code) || (code === EIO && freeBytes < NO_ROOM)) {
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

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
