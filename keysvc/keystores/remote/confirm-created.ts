import { KeyError, type KeyStore } from '../keystore.ts';

/** The result of a write; `in-doubt` when an attempt whose answer was lost may have written it. */
export type WriteOutcome = 'written' | 'taken' | 'in-doubt';

/**
 * Decides a creation by a read: the key belongs to the writer of the stored bytes. A lost answer then causes no false refusal, and every
 * created key is readable.
 *
 * @throws KeyError `exists`, or the error of the read
 */
export async function confirmCreated(
  store: Pick<KeyStore, 'get'>,
  name: string,
  record: Buffer,
  outcome: WriteOutcome,
): Promise<void> {
  if (outcome === 'taken') throw new KeyError('exists', `the key "${name}" exists already`);
  let kept: Buffer;
  try {
    kept = await store.get(name);
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    const code = error.code === 'not-found' ? 'unavailable' : error.code;
    throw new KeyError(code, `the key "${name}" was written, but does not read back: ${error.message}`, {
      cause: error,
    });
  }
  if (!kept.equals(record)) {
    throw new KeyError('exists', `the key "${name}" was created by another key server at the same time`);
  }
}
