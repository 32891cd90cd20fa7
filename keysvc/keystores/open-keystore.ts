import type { KeyStoreSettings } from './keystore-settings.ts';
import type { KeyStore } from './keystore.ts';

/**
 * Opens the key store of the configuration, and loads only its code.
 *
 * @throws KeyError
 */
export async function openKeyStore(settings: KeyStoreSettings): Promise<KeyStore> {
  switch (settings.kind) {
    case 'files': {
      const { openFilesKeyStore } = await import('./files-keystore.ts');
      return openFilesKeyStore(settings.path);
    }
    case 'azure': {
      const { openAzureKeyStore } = await import('./azure/azure-keystore.ts');
      return openAzureKeyStore(settings);
    }
    case 'vault': {
      const { openVaultKeyStore } = await import('./vault/vault-keystore.ts');
      return openVaultKeyStore(settings);
    }
    case 'aws': {
      const { AwsKeyStore } = await import('./aws/aws-keystore.ts');
      return new AwsKeyStore(settings);
    }
    case 'gcp': {
      const { GcpKeyStore } = await import('./gcp/gcp-keystore.ts');
      return new GcpKeyStore(settings);
    }
    case 'kes': {
      const { openKesKeyStore } = await import('./kes-keystore.ts');
      return openKesKeyStore(settings);
    }
  }
}
