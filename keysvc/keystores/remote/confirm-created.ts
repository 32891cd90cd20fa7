import { KeyStoreError, type KeyStore } from '../keystore.ts';

/** What a write said: the name was free, or taken; `in-doubt` where an attempt whose answer was lost may have taken it. */
export type WriteOutcome = 'written' | 'taken' | 'in-doubt';

/**
 * Creation is what a read returns: a name belongs to whose bytes are there. So a lost answer does not turn into a false refusal, and
 * nobody is told of a key that nobody can read. Errors with `exists`, and with what the read errors with.
 */
export async function confirmCreated(
  store: Pick<KeyStore, 'get'>,
  name: string,
  record: Buffer,
  outcome: WriteOutcome,
): Promise<void> {
  if (outcome === 'taken') throw new KeyStoreError('exists', `the key "${name}" exists already`);
  let kept: Buffer;
  try {
    kept = await store.get(name);
  } catch (error) {
    if (!(error instanceof KeyStoreError)) throw error;
    const code = error.code === 'not-found' ? 'unavailable' : error.code;
    throw new KeyStoreError(code, `the key "${name}" was written, but does not read back: ${error.message}`, {
      cause: error,
    });
  }
  if (!kept.equals(record)) {
    throw new KeyStoreError('exists', `the key "${name}" was created by somebody else at the same time`);
  }
}
