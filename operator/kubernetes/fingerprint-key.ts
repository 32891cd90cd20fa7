import type { Cache, KubeApi } from '../kube/kube-api.ts';

/**
 * The key of the namespace's fingerprints, from the Secret `coffer-fingerprint-key`, made once. A fingerprint made with it tells that
 * a value changed, and nothing of the value. Errors with a `KubeError`.
 */
export function fingerprintKey(
  _options: { readonly api: KubeApi; readonly secrets: Cache },
  _namespace: string,
): Promise<Buffer> {
  throw new Error('not built yet');
}

/** HMAC-SHA-256 of a value, base64url. */
export function fingerprintWith(_key: Buffer): (value: string) => string {
  throw new Error('not built yet');
}
