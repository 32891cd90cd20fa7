import type { Key } from './key.ts';
import type { KeyVersions } from './key-versions.ts';
import { parseCiphertext } from './parse-ciphertext.ts';
import { NotAuthentic, unseal } from './seal.ts';

/** The version that a ciphertext names is not among those that are known: it may be newer. */
export class UnknownVersion extends NotAuthentic {}

/**
 * Opens a ciphertext with the version that sealed it: the one it names or, where it names none, any that fits. Errors with
 * `NotAuthentic`, and with `UnknownVersion` where it names another.
 */
export function unsealWithVersions({ all }: KeyVersions, ciphertext: Buffer, context: Buffer): Buffer {
  const keyId = parseCiphertext(ciphertext)?.keyId;
  const candidates = keyId === undefined ? all : all.filter(({ id }) => id === keyId);
  if (candidates.length === 0) throw new UnknownVersion('the ciphertext names another key');
  return unsealWithAny(candidates, ciphertext, context);
}

function unsealWithAny(candidates: readonly Key[], ciphertext: Buffer, context: Buffer): Buffer {
  for (const key of candidates) {
    try {
      return unseal(key, ciphertext, context);
    } catch (error) {
      if (!(error instanceof NotAuthentic)) throw error;
    }
  }
  throw new NotAuthentic('the ciphertext is not authentic');
}
