import type { KeyStoreSettings } from '../config/keystore-settings.ts';
import { KeyStoreError } from './keystore.ts';
import type { KeyStore } from './keystore.ts';

/** Opens the key store that the configuration names; only its code is loaded. Errors with a `KeyStoreError`. */
export async function openKeyStore(settings: KeyStoreSettings): Promise<KeyStore> {
  switch (settings.kind) {
    case 'files': {
      const { openFilesKeyStore } = await import('./files/files-keystore.ts');
      return openFilesKeyStore(settings.path);
    }
    case 'azure': {
      const { AzureKeyStore } = await import('./azure/azure-keystore.ts');
      return new AzureKeyStore(settings);
    }
    case 'vault':
    case 'aws':
    case 'gcp':
    case 'kes':
      throw new KeyStoreError('refused', `keystore.${settings.kind} is not built yet`);
  }
}
