import { isStoreError } from '../store/store-error.ts';

/**
 * An error of stored data. It is no refusal of a request: the client gets an internal error, and the log gets this one.
 *
 * - `unreadable-record`: a record is damaged, or a newer server wrote it
 * - `damaged-body`: the bytes of a body are not those that were written
 * - `changed`: records that were read do not fit together, since one of them changed meanwhile; the operation reads again
 */
export class StoredDataError extends Error {
  override readonly name = 'StoredDataError';
  readonly code: 'unreadable-record' | 'damaged-body' | 'changed';

  constructor(code: StoredDataError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export function isUnreadable(error: unknown): error is StoredDataError {
  return error instanceof StoredDataError && error.code === 'unreadable-record';
}

/** Reports if a record or a body is damaged or missing: it does not come back by waiting, and others are not concerned. */
export function isDamage(error: unknown): boolean {
  if (error instanceof StoredDataError) return error.code !== 'changed';
  return isStoreError(error, 'blob-missing', 'blob-truncated', 'blob-altered');
}
