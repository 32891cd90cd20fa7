import { type KeySource, KeySourceError } from './key-source.ts';

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
