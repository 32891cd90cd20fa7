import { KeyError, type KeyStore } from '../keystore.ts';

/**
 * Decides a deletion by a read: a proxy may answer with a good status in place of the vault, and the key would be used on.
 *
 * @throws KeyError `unavailable` if the key is still there, or the error of the read where it does not tell
 */
export async function confirmDeleted(store: Pick<KeyStore, 'get'>, name: string): Promise<void> {
  try {
    await store.get(name);
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    if (error.code === 'not-found') return;
    throw new KeyError(
      error.code,
      `the deletion of the key "${name}" was answered well, and nothing tells whether the key is gone: ${error.message}`,
      { cause: error },
    );
  }
  throw new KeyError(
    'unavailable',
    `the deletion of the key "${name}" was answered well, and the key is still there: see if a proxy answers in place of its store, and delete it again`,
  );
}
