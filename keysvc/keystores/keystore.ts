/**
 * Where keys are kept: named records, each written once and never changed. A key has one version, and that version is its key ID, a
 * hash of its bytes: nothing is ever written over, so that what was sealed stays readable.
 *
 * What an implementer owes, held by `keystore.conformance.ts` over every engine:
 * - `create` is durable when it resolves; of any number at once for one name exactly one succeeds, no reader sees half a record, and
 *   what one reader has seen every later reader sees;
 * - a record reads back byte for byte;
 * - every failure is a `KeyStoreError` with the code that fits.
 *
 * A store behind the network owes more, held by `remote/remote.conformance.ts`: it sits out throttling and short outages, logs in
 * again when its token is no longer taken, and never names a secret in an error.
 */
export interface KeyStore {
  /** Errors with `exists` where there is a key of that name. */
  create(name: string, record: Buffer): Promise<void>;

  /** Errors with `not-found`. */
  get(name: string): Promise<Buffer>;

  /** Errors with `not-found`. */
  delete(name: string): Promise<void>;

  /** Every name, in no order. */
  list(): AsyncIterable<string>;

  /** Resolves when the store answers. Errors with `unreachable` or `unavailable`. */
  probe(): Promise<void>;

  close(): Promise<void>;
}

/** Keys are small: a record beyond this many bytes is none of ours. */
export const maxRecordBytes = 64 * 1024;

type KeyStoreErrorCode =
  | 'exists'
  | 'not-found'
  /** The store can never hold a key of that name. */
  | 'invalid-name'
  /** There is a record, but it is no key. */
  | 'corrupted'
  /** The store answers and says no: a permission is lacking, a login is not taken, the key is held back. No outage: caches end. */
  | 'refused'
  /** No answer comes. */
  | 'unreachable'
  /** The answer is a failure. */
  | 'unavailable';

export class KeyStoreError extends Error {
  override readonly name = 'KeyStoreError';
  readonly code: KeyStoreErrorCode;
  constructor(code: KeyStoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
