import { KeyError, type KeyStore } from '../keystore.ts';

/**
 * Decides a deletion by a read: a proxy may answer with a good status in place of the vault, and the key would be used on. A read that fails
 * says nothing else.
 *
 * @throws KeyError `unavailable` if the key is still there
 */
export async function confirmDeleted(store: Pick<KeyStore, 'get'>, name: string): Promise<void> {
  try {
    await store.get(name);
  } catch (error) {
    if (error instanceof KeyError) return;
    throw error;
  }
  throw new KeyError(
    'unavailable',
    `the deletion of the key "${name}" was answered well, and the key is still there: see if a proxy answers in place of its store, and delete it again`,
  );
}
