import type { KeyAlgorithm } from './key.ts';

export const ivBytes = 16;
export const nonceBytes = 12;
export const tagBytes = 16;

/** The parts of a sealed text, whatever its encoding. */
export interface Ciphertext {
  /** Absent where the encoding leaves it to the key. */
  readonly algorithm?: KeyAlgorithm;
  /** Absent where the encoding does not tell. */
  readonly keyId?: string;
  readonly iv: Buffer;
  readonly nonce: Buffer;
  /** Ciphertext and tag. */
  readonly sealed: Buffer;
}

/** Writes the encoding of the later releases: ciphertext, tag, iv, nonce, without a word more. */
export function writeCiphertext(parts: Pick<Ciphertext, 'iv' | 'nonce' | 'sealed'>): Buffer {
  return Buffer.concat([parts.sealed, parts.iv, parts.nonce]);
}

/** Undefined where a part has not the length that the ciphers demand. */
export function checked(parts: Ciphertext): Ciphertext | undefined {
  const fits = parts.iv.length === ivBytes && parts.nonce.length === nonceBytes && parts.sealed.length >= tagBytes;
  return fits ? parts : undefined;
}
