import { CodedError } from '../../protocol/coded-error.ts';

/**
 * A store of keys: named records that are written once and never changed, so that every ciphertext stays decryptable.
 *
 * The contract of an implementation, which `keystore.conformance.ts` tests:
 * - `create` is durable when it resolves. Of concurrent calls for one name exactly one succeeds. No reader sees a partial record, and every
 *   later reader sees what one reader has seen.
 * - A record is read back byte for byte.
 * - Every failure is a `KeyError` with the right code.
 *
 * A remote store does more, which `remote.conformance.ts` tests: it survives throttling and short outages, logs in again when its token is
 * rejected, and never names a secret in an error.
 */
export interface KeyStore {
  /** @throws KeyError `exists` */
  create(name: string, record: Buffer): Promise<void>;

  /** @throws KeyError `not-found` */
  get(name: string): Promise<Buffer>;

  /** @throws KeyError `not-found` */
  delete(name: string): Promise<void>;

  /** Lists every name in any order. */
  list(): AsyncIterable<string>;

  /**
   * Resolves when the store answers.
   *
   * @throws KeyError `unreachable` or `unavailable`
   */
  probe(): Promise<void>;

  close(): Promise<void>;
}

/** The maximum size of a record. A larger one is not a key. */
export const maxRecordBytes = 64 * 1024;

type KeyErrorCode =
  | 'exists'
  | 'not-found'
  /** The store does not support a key of this name. */
  | 'invalid-name'
  /** The record is not a key. */
  | 'corrupted'
  /**
   * The store refuses: a permission is missing, a login is rejected, or the key is blocked. This is not an outage, so the offline cache does
   * not serve.
   */
  | 'refused'
  /** The store does not answer. */
  | 'unreachable'
  /** The store answers with a failure. */
  | 'unavailable'
  /** The key, the context or the ciphertext is wrong. The cipher cannot say which. */
  | 'not-authentic'
  /** The ciphertext names a version that is not known, which may be newer. */
  | 'unknown-version'
  /** A key of the configuration can neither be validated nor created. */
  | 'not-ensured';

/** An error of a key or its store. It is not a `RequestError`: each call decides what its caller may see of it. */
export class KeyError extends CodedError<KeyErrorCode> {
  override readonly name = 'KeyError';
  /** The store refuses because a permission for this record is missing, and not because the record is blocked. */
  readonly lacksPermission: boolean;
  constructor(code: KeyErrorCode, message: string, options?: ErrorOptions & { readonly lacksPermission?: boolean }) {
    super(code, message, options);
    this.lacksPermission = options?.lacksPermission === true;
  }
}

/** Reports whether the store could not be asked, so that an error says nothing about its key. */
export function isOutage(error: unknown): boolean {
  return error instanceof KeyError && (error.code === 'unreachable' || error.code === 'unavailable');
}
