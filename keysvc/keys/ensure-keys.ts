import type { KeyCanaries } from '../../protocol/key-service/canary.ts';
import type { Logger } from '../../platform/output/logger.ts';
import { KeyError } from '../keystores/keystore.ts';
import type { Keyring } from './keyring.ts';
import { makeKey } from './key.ts';
import { proveCanaries } from './prove-canaries.ts';

/**
 * Ensures that every listed key exists and is valid; creates missing ones. A key with canaries has sealed data: it must open them, and is
 * never created.
 *
 * @throws KeyError `not-ensured`, with the name of the first key that fails
 */
export async function ensureKeys(
  keyring: Keyring,
  names: readonly string[],
  canaries: readonly KeyCanaries[],
  log: Logger,
  now: () => Date = () => new Date(),
): Promise<void> {
  for (const name of names) {
    try {
      const sealed = canaries.find(({ key }) => key === name);
      const outcome = sealed === undefined ? await ensureKey(keyring, name, now) : await proveKey(keyring, sealed);
      log.info({ key: name }, `key "${name}" ${outcome}`);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const message = `the key "${name}" listed under "keys" cannot be validated or created: ${reason}`;
      throw new KeyError('not-ensured', message, { cause: error });
    }
  }
}

async function proveKey(keyring: Keyring, canaries: KeyCanaries): Promise<'proven'> {
  await proveCanaries(keyring, canaries);
  return 'proven';
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
