import { isStoreError, type StoreError } from '../../store/store-error.ts';

/** Reports if a record is damaged, or a newer server wrote it. */
export function isUnreadable(error: unknown): error is StoreError {
  return isStoreError(error, 'unreadable-record');
}

/** Reports if the stored bytes of a body are missing. They come back where a volume was not mounted. */
export function isMissingBody(error: unknown): boolean {
  return isStoreError(error, 'blob-missing');
}

/** Reports if a record or a body is damaged or missing: it does not come back by waiting, and others are not concerned. */
export function isDamage(error: unknown): boolean {
  return isStoreError(error, 'unreadable-record', 'damaged-body', 'blob-missing', 'blob-truncated', 'blob-altered');
}
