import type { KeyCanaries } from '../../protocol/key-service/canary.ts';
import { KeyError } from '../keystores/keystore.ts';
import type { Keyring } from './keyring.ts';
import { proveCanaries } from './prove-canaries.ts';

/** The keys that a configuration needs, by their state in a key store. */
export interface CheckedKeys {
  /** Keys that sealed data, and that are the same ones. */
  readonly proven: readonly string[];
  /** Listed keys under which nothing was sealed, and that a start would make. */
  readonly missing: readonly string[];
}

/**
 * Checks a key store before a key service starts with it. It opens the canaries of every key that sealed data, not only of the listed
 * ones: a key that the other store lacks is lost for its data. It makes nothing.
 *
 * @throws KeyError `not-ensured`, with every key that is not proven
 */
export async function checkKeys(
  keyring: Keyring,
  names: readonly string[],
  canaries: readonly KeyCanaries[],
): Promise<CheckedKeys> {
  const proven: string[] = [];
  const failed: string[] = [];
  for (const sealed of canaries) {
    try {
      await proveCanaries(keyring, sealed);
      proven.push(sealed.key);
    } catch (error) {
      if (!(error instanceof KeyError)) throw error;
      failed.push(error.message);
    }
  }
  const missing: string[] = [];
  for (const name of names.filter((each) => !canaries.some(({ key }) => key === each))) {
    try {
      await keyring.reread(name);
    } catch (error) {
      if (!(error instanceof KeyError)) throw error;
      if (error.code === 'not-found') missing.push(name);
      else failed.push(`the key "${name}" cannot be read: ${error.message}`);
    }
  }
  if (failed.length > 0) throw new KeyError('not-ensured', listed(failed));
  return { proven, missing };
}

const maxListed = 5;

function listed(failed: readonly string[]): string {
  const more = failed.length > maxListed ? [`and ${failed.length - maxListed} more keys`] : [];
  return [...failed.slice(0, maxListed), ...more].join('; ');
}
