import type { KeyStoreSettings } from '../config/config.ts';
import { openFilesKeyStore } from './files/files-keystore.ts';
import type { KeyStore } from './keystore.ts';

/** Opens the key store that the configuration names. Errors with a `KeyStoreError`. */
export async function openKeyStore(settings: KeyStoreSettings): Promise<KeyStore> {
  return openFilesKeyStore(settings.path);
}
