import type { KeySource } from '../encryption/key-source.ts';
import type { KeyAdministration } from './key-administration.ts';

/** What the environment gave is not changed over the network. */
class FixedKey extends Error {
  override readonly name = 'FixedKey';
  readonly code = 'not-supported';
}

/** The one key of `SVC_KMS_SECRET_KEY` as administrators see it. */
export function oneKey(source: KeySource): KeyAdministration {
  const refuse = () =>
    Promise.reject(
      new FixedKey(
        `SVC_KMS_SECRET_KEY gives the key ${source.defaultKey} alone: several keys need a key service (SVC_KMS_KEYSVC_ENDPOINT)`,
      ),
    );
  return {
    name: 'SecretKey',
    endpoints: [],
    source,
    createKey: refuse,
    importKey: refuse,
    rotateKey: refuse,
    deleteKey: refuse,
    listKeys: (prefix) => Promise.resolve(source.defaultKey.startsWith(prefix) ? [source.defaultKey] : []),
  };
}
