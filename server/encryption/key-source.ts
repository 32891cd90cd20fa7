import { KeyServiceError } from '../../platform/key-service/exchange.ts';

/**
 * A source of data keys: the key service, a secret key of the environment, or none. The encryption of objects and of the backend uses
 * only this interface. Errors are `KeyServiceError`s, whose code the S3 layer translates.
 *
 * @example
 *     const context = { 'coffer:bucket': 'photos' };
 *     const { plaintext, sealed } = await keys.generate(keys.defaultKey, context);
 *     const again = await keys.unseal(sealed, context);
 */
export interface KeySource {
  /** The key of SSE-S3, of SSE-KMS without a key name, and of the sealed backend. */
  readonly defaultKey: string;

  /**
   * Returns a 32-byte data key and its sealed form, bound to the context. The key may come from a cache, and then other callers with the
   * same context use it too. With `once` it is new. It is proven to come from the key that sealed before; rejects with `wrong-key`
   * otherwise. With `probe` it is new and not proven: it must seal nothing.
   */
  generate(
    keyName: string,
    context: EncryptionContext,
    options?: { readonly once?: boolean; readonly probe?: boolean },
  ): Promise<DataKey>;

  /**
   * Opens a sealed data key. A cached key is returned synchronously, because each GET of an encrypted object calls this. Fails with
   * `not-authentic` if the key, its version or the context differ.
   */
  unseal(sealed: SealedDataKey, context: EncryptionContext): Buffer | Promise<Buffer>;

  /** Resolves if this key exists and may be used. It never answers from a cache. */
  checkKey(keyName: string): Promise<void>;

  /** Resolves if the key service answers, and the default key exists and opens its canaries. Rejects with the reason otherwise. */
  check(): Promise<void>;

  /**
   * Resolves if the key service opens every canary of the key: what was sealed under it can be read. It never answers from a cache.
   * Rejects with the code `wrong-key` if the key service has another key of this name.
   */
  proveKey(keyName: string): Promise<void>;

  /** Makes the canary of a key that has none. The caller has opened data that the key sealed. */
  adoptKey(keyName: string): Promise<void>;
}

/** Bound to the sealed key as associated data; canonical JSON with sorted names. */
export type EncryptionContext = Readonly<Record<string, string>>;

export interface SealedDataKey {
  readonly keyName: string;
  /** The key ID of the key-service protocol, if the service returned one. */
  readonly keyVersion?: string | undefined;
  /** Base64, the form in records. */
  readonly ciphertext: string;
}

export interface DataKey {
  readonly plaintext: Buffer;
  readonly sealed: SealedDataKey;
}

/** Characters that the canonical form escapes. */
const signs = /[<>&]/g;

/**
 * Returns the canonical form of a context: JSON with sorted names and no spaces, in which `<`, `>` and `&` are escaped. Other servers
 * that use the key-service protocol write the same. Keys are sealed with its UTF-8. Two contexts never have the same text.
 */
export function contextText(context: EncryptionContext): string {
  const names = Object.keys(context);
  // Each request calls this, and nearly all contexts have the bucket only.
  const sorted = names.length < 2 ? names : names.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const pairs = sorted.map((name) => `${JSON.stringify(name)}:${JSON.stringify(context[name])}`);
  return `{${pairs.join(',')}}`.replaceAll(signs, (sign) => `\\u00${sign.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

export function contextBytes(context: EncryptionContext): Buffer {
  return Buffer.from(contextText(context));
}

/** The key source of a server without a key service. Every call fails with `not-configured`. */
export const noKeySource: KeySource = {
  defaultKey: '',
  generate: refuse,
  unseal: refuse,
  checkKey: refuse,
  check: refuse,
  proveKey: refuse,
  adoptKey: refuse,
};

function refuse(): Promise<never> {
  return Promise.reject(
    new KeyServiceError(
      'not-configured',
      'no key service is configured: set SVC_KMS_KEYSVC_ENDPOINT and its certificate, or SVC_KMS_SECRET_KEY',
    ),
  );
}
