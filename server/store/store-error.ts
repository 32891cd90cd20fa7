import { CodedError } from '../../protocol/coded-error.ts';
import { timeoutText } from '../../platform/text/message-text.ts';
import { systemErrorCode } from '../../platform/errors/system-error.ts';

/** The errors of sealed records. An administrator must act. */
export const sealedRecordsErrors = [
  /** The records are sealed, and no key service is configured. */
  'key-service-needed',
  /** The records were sealed with another key. */
  'wrong-key',
  'newer-format',
  /** A record is plain although every record was sealed. */
  'not-sealed',
] as const;

type SealedRecordsErrorCode = (typeof sealedRecordsErrors)[number];

/** The store cannot serve now, and nothing was changed. A later attempt may succeed. */
const unavailableCodes = [
  /** The disk, or the quota of the other store, is full. */
  'full',
  /** The store or the connection to it failed. */
  'unreachable',
  /** A commit may still be in flight. */
  'timeout',
  'closed',
  'read-only',
  /** The store must be promoted first: another one may act for the same deployment. */
  'unpromoted',
] as const;

export type UnavailableCode = (typeof unavailableCodes)[number];

/** The codes are stable: logs show them, and callers decide by them. */
type StoreErrorCode =
  /** The store cannot say whether a commit took effect. The caller must keep everything that the commit refers to. */
  | 'outcome-unknown'
  /**
   * The connection to the database broke or timed out, or the wait for its standbys was cancelled. It is unknown whether the statement took
   * effect, or whether a failover would lose it.
   */
  | 'connection-lost'
  /** Another server does the background work now. */
  | 'lease-lost'
  /** A text or bytes that cannot be a key. */
  | 'invalid-key'
  /**
   * A write or a flush of the record file failed, and the disk is not full, or LMDB could not write its meta page, for whatever reason.
   * The content of the disk is unknown now: the kernel drops pages that it could not flush and marks them clean, and without its meta page
   * LMDB refuses even reads. The process must open the file again.
   *
   * @see https://wiki.postgresql.org/wiki/Fsync_Errors
   */
  | 'record-file-failed'
  /** There is no such blob. */
  | 'blob-missing'
  /** The blob is shorter than what was written. */
  | 'blob-truncated'
  /** The size or the kind of the blob differs in another way. */
  | 'blob-altered'
  /** The ciphertext was changed, truncated or reordered, or belongs to another key. */
  | 'ciphertext-damaged'
  /** A record is damaged, or a newer server wrote it. The client gets an internal error, and the log gets this one. */
  | 'unreadable-record'
  /** The bytes of a body are not those that were written. */
  | 'damaged-body'
  /** Records that were read do not fit together, since one of them changed meanwhile. The operation reads again. */
  | 'changed'
  | UnavailableCode
  | SealedRecordsErrorCode;

/**
 * An error of a store for which its caller has a rule. `isStoreUnavailable` selects those of a store that cannot serve now. It is not an
 * `S3Error`, since jobs and commands use the stores too, and no caller may see a path or a record.
 */
export class StoreError extends CodedError<StoreErrorCode> {
  override readonly name = 'StoreError';
  /** The store that failed. */
  readonly store: 'records' | 'blobs';
  /** The failure of a call of another object store. */
  readonly failure: CallFailure | undefined;

  constructor(
    code: StoreErrorCode,
    message: string,
    options?: ErrorOptions & { readonly store?: StoreError['store']; readonly failure?: CallFailure },
  ) {
    super(code, message, options);
    this.store = options?.store ?? 'records';
    this.failure = options?.failure;
  }
}

/** The failure of a call of another object store (S3, Azure, Google), classified by what the caller does next. */
export interface CallFailure {
  readonly kind:
    | 'absent'
    /** A condition of the request did not hold. */
    | 'condition'
    /** The object ends before the range. */
    | 'range'
    | 'full'
    /** A temporary failure. */
    | 'passing'
    /** A failure that lasts until an administrator acts. */
    | 'refused';
  /** The error code of the other store, or that of the socket. */
  readonly code: string;
}

/** Returns the code of a call whose answer was late: "no answer within 10 s". */
export function noAnswer(timeoutMs: number | undefined): string {
  return timeoutMs === undefined ? 'no answer in time' : `no answer within ${timeoutText(timeoutMs)}`;
}

/** Returns the failure of a call of another object store; undefined for any other error. */
export function callFailure(error: unknown): CallFailure | undefined {
  return error instanceof StoreError ? error.failure : undefined;
}

/**
 * Reports if an error has one of the codes.
 *
 * @example
 *     if (isStoreError(error, 'blob-missing')) return undefined;
 */
export function isStoreError(error: unknown, ...codes: readonly StoreErrorCode[]): error is StoreError {
  return error instanceof StoreError && codes.includes(error.code);
}

/** Reports if a store cannot serve now (disk full, connection lost, closed, made read-only). Nothing was changed. */
export function isStoreUnavailable(error: unknown): error is StoreError & { readonly code: UnavailableCode } {
  return isStoreError(error, ...unavailableCodes);
}

/** The errors of a call that found no room: on the disk, in a quota, or below the size that a file may have here. */
const noRoomCodes: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** Reports if a call of the system found no room. For every store on a file system. */
export function isNoRoom(error: unknown): boolean {
  return noRoomCodes.has(systemErrorCode(error));
}
