import { createHash } from 'node:crypto';
import { canaryContextBytes, type KeyCanaries } from '../../protocol/key-service/canary.ts';
import { KeyError } from '../keystores/keystore.ts';
import type { Keyring } from './keyring.ts';
import { unsealWithVersions } from './seal.ts';

/**
 * Opens the canaries of a key, which servers made before they sealed data under it. A key without canaries may have sealed data that no server
 * has told of yet: it has to be there.
 *
 * @throws KeyError `not-found` for a key that is lost, `not-authentic` for another key of this name
 */
export async function proveCanaries(keyring: Keyring, { key, canaries }: KeyCanaries): Promise<void> {
  const versions = await keyring.reread(key).catch((error: unknown) => {
    if (!(error instanceof KeyError && error.code === 'not-found')) throw error;
    throw new KeyError(
      'not-found',
      `data ${canaries.length === 0 ? 'may have been' : 'was'} sealed under the key "${key}", which the key store does not have: it is not made anew, since a new key opens none of that ` +
        'data; give the key service the key store that it had',
      { cause: error },
    );
  });
  for (const { version, ciphertext, digest } of canaries) {
    const opened = open(() => unsealWithVersions(versions, Buffer.from(ciphertext, 'base64'), canaryContextBytes(key)));
    if (opened !== undefined && createHash('sha256').update(opened).digest('hex') === digest) continue;
    throw new KeyError(
      'not-authentic',
      `the key "${key}" of the key store is not the one that sealed data (version ${version ?? 'unknown'} does not open): give the key ` +
        'service the key store that it had',
    );
  }
}

/** Returns undefined for a ciphertext that the key does not open. */
function open(unseal: () => Buffer): Buffer | undefined {
  try {
    return unseal();
  } catch (error) {
    if (error instanceof KeyError && (error.code === 'not-authentic' || error.code === 'unknown-version'))
      return undefined;
    throw error;
  }
}
