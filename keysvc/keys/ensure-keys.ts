import type { Logger } from '../../platform/logger.ts';
import { KeyError } from '../keystores/keystore.ts';
import type { Keyring } from './keyring.ts';
import { makeKey } from './key.ts';

/**
 * Ensures that every listed key exists and is valid; creates missing ones.
 *
 * @throws KeyError `not-ensured`, with the name of the first key that fails
 */
export async function ensureKeys(
  keyring: Keyring,
  names: readonly string[],
  log: Logger,
  now: () => Date = () => new Date(),
): Promise<void> {
  for (const name of names) {
    try {
      const outcome = await ensureKey(keyring, name, now);
      log.info({ key: name }, outcome === 'created' ? `key "${name}" created` : `key "${name}" validated`);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const message = `the key "${name}" listed under "keys" cannot be validated or created: ${reason}`;
      throw new KeyError('not-ensured', message, { cause: error });
    }
  }
}

async function ensureKey(keyring: Keyring, name: string, now: () => Date): Promise<'created' | 'validated'> {
  if (await isThere(keyring, name)) return 'validated';
  let outcome: 'created' | 'validated' = 'created';
  try {
    await keyring.create(name, makeKey(now()));
  } catch (error) {
    // Another key server on the same store has created the key first.
    if (!(error instanceof KeyError && error.code === 'exists')) throw error;
    outcome = 'validated';
  }
  await keyring.get(name);
  return outcome;
}

async function isThere(keyring: Keyring, name: string): Promise<boolean> {
  try {
    await keyring.get(name);
    return true;
  } catch (error) {
    if (error instanceof KeyError && error.code === 'not-found') return false;
    throw error;
  }
}
