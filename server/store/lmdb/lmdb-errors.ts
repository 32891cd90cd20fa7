import { constants } from 'node:os';
import { StoreUnavailable } from '../record-store.ts';

const MDB_MAP_FULL = -30_792;
const MDB_TXN_FULL = -30_788;
const full: readonly unknown[] = [MDB_MAP_FULL, MDB_TXN_FULL, constants.errno.ENOSPC, constants.errno.EDQUOT];

/** What callers see of an error of LMDB's: the transaction was aborted, nothing was changed. */
export function unavailable(error: unknown): StoreUnavailable {
  const message = error instanceof Error ? error.message : String(error);
  if (full.includes(codeOf(error))) {
    return new StoreUnavailable('full', `no space is left for records: ${message}`, { cause: error });
  }
  return new StoreUnavailable('unreachable', `the record store failed: ${message}`, { cause: error });
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
