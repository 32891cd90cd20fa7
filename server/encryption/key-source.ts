/**
 * Where data keys come from: the key service, or none. Object and backend encryption know only this.
 *
 * Errors are `KeySourceError`s with a code that the S3 layer translates.
 */
export interface KeySource {
  /** The key of SSE-S3, of SSE-KMS without a key name, and of the sealed backend. */
  readonly defaultKey: string;

  /**
   * A 32-byte data key and its sealed form, bound to the context. It may serve others of the same context too; with `once` it is fresh,
   * and asked for now.
   */
  generate(keyName: string, context: EncryptionContext, options?: { readonly once?: boolean }): Promise<DataKey>;

  /**
   * The 32-byte data key again, at once where it is at hand: each GET of an encrypted object asks. Fails with `not-authentic` where key,
   * version or context differ.
   */
  unseal(sealed: SealedDataKey, context: EncryptionContext): Buffer | Promise<Buffer>;

  /** Resolves when this key exists and may be used, asked now: nothing cached answers. */
  checkKey(keyName: string): Promise<void>;

  /** Resolves when the key service answers and the default key exists; rejects with the reason otherwise. */
  check(): Promise<void>;
}

/** Bound to the sealed key as associated data; canonical JSON with sorted names. */
export type EncryptionContext = Readonly<Record<string, string>>;

export interface SealedDataKey {
  readonly keyName: string;
  /** The key ID of the key-service protocol, where it gave one. */
  readonly keyVersion?: string | undefined;
  /** Base64, as records keep it. */
  readonly ciphertext: string;
}

export interface DataKey {
  readonly plaintext: Buffer;
  readonly sealed: SealedDataKey;
}

type KeySourceErrorCode = 'key-not-found' | 'not-authentic' | 'not-permitted' | 'unavailable' | 'not-configured';

export class KeySourceError extends Error {
  override readonly name = 'KeySourceError';
  readonly code: KeySourceErrorCode;
  constructor(code: KeySourceErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** What JSON leaves as it is and HTML would read. */
const signs = /[<>&]/g;

/**
 * What a context is bound by: JSON with sorted names and no spaces, in which `<`, `>` and `&` are escaped, as other servers that use the
 * key-service protocol write it. Its UTF-8 is what keys are sealed with; two contexts never have the same text.
 */
export function contextText(context: EncryptionContext): string {
  const names = Object.keys(context);
  // Nearly all have the bucket alone, and each request asks.
  const sorted = names.length < 2 ? names : names.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const pairs = sorted.map((name) => `${JSON.stringify(name)}:${JSON.stringify(context[name])}`);
  return `{${pairs.join(',')}}`.replaceAll(signs, (sign) => `\\u00${sign.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

export function contextBytes(context: EncryptionContext): Buffer {
  return Buffer.from(contextText(context));
}

/** The key source of a server without a key service: everything is refused as `not-configured`. */
export const noKeySource: KeySource = {
  defaultKey: '',
  generate: refuse,
  unseal: refuse,
  checkKey: refuse,
  check: refuse,
};

function refuse(): Promise<never> {
  return Promise.reject(
    new KeySourceError(
      'not-configured',
      'no key service is configured: set SVC_KMS_KEYSVC_ENDPOINT and its certificate, or SVC_KMS_SECRET_KEY',
    ),
  );
}
