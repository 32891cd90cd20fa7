import type { Logger } from '../../platform/logger.ts';
import { KeyStoreError } from '../keystores/keystore.ts';
import type { Keyring } from './keyring.ts';
import { makeKey } from './key.ts';

/** A key of the configuration that is neither there and valid nor can be made. The service must not start. */
export class KeyNotEnsured extends Error {
  override readonly name = 'KeyNotEnsured';
  readonly code = 'key-not-ensured';
  readonly keyName: string;
  constructor(keyName: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`the key "${keyName}" listed under "keys" cannot be validated or created: ${reason}`, { cause });
    this.keyName = keyName;
  }
}

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
      throw new KeyNotEnsured(name, error);
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
    if (!(error instanceof KeyStoreError && error.code === 'exists')) throw error;
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
    if (error instanceof KeyStoreError && error.code === 'not-found') return false;
    throw error;
  }
}
