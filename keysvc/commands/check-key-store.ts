import { loadConfig } from '../config/config-file.ts';
import { checkKeys, type CheckedKeys } from '../keys/check-keys.ts';
import { Keyring } from '../keys/keyring.ts';
import { openKeyStore } from '../keystores/open-keystore.ts';

/**
 * Opens the key store of a configuration and checks its keys. It makes none. `warn` gets what a start would log.
 *
 * @throws KeyError, ProgramError
 */
export async function checkKeyStore(
  path: string,
  environment: Readonly<Record<string, string | undefined>>,
  warn: (warning: string) => void,
): Promise<CheckedKeys> {
  const config = await loadConfig(path, environment);
  config.warnings.forEach(warn);
  const keyring = new Keyring(await openKeyStore(config.keyStore), config.cache);
  try {
    return await checkKeys(keyring, config.keys, config.canaries);
  } finally {
    await keyring.close();
  }
}
