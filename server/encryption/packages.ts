import { hkdfSync } from 'node:crypto';
import { type Decryption, PackageDecryptor } from './package-decryptor.ts';
import { PackageEncryptor } from './package-encryptor.ts';

export { DamagedCiphertext } from './damaged-ciphertext.ts';
export type { Decryption } from './package-decryptor.ts';
export { UnexpectedSize } from './package-encryptor.ts';

/**
 * The body format of encrypted objects: AES-256-GCM in packages (see `package-layout.ts`). The nonce of a package is its index and
 * whether it is the last, under a key that no other stream has, so that packages neither move, nor get lost, nor come from elsewhere
 * unnoticed, and a range decrypts alone.
 */

/** Bytes of the random salt that every upload attempt and part has of its own. */
export const SALT_SIZE = 16;

/** The 32-byte key of one stream. The same object key and salt must never encrypt two streams. */
export function streamKey(objectKey: Buffer, salt: Buffer): Buffer {
  if (salt.length !== SALT_SIZE) throw new RangeError(`a salt has ${SALT_SIZE} bytes, not ${salt.length}`);
  return Buffer.from(hkdfSync('sha256', objectKey, salt, 'coffer object stream 1', 32));
}

/**
 * Encrypts a body of exactly `size` bytes; its chunks may have any length. `key` is of `streamKey()`.
 * Throws `UnexpectedSize` when the body is longer or shorter.
 */
export async function* encryptStream(body: AsyncIterable<Buffer>, key: Buffer, size: number): AsyncGenerator<Buffer> {
  const encryptor = new PackageEncryptor(key, size);
  for await (const chunk of body) yield* encryptor.update(chunk);
  yield encryptor.final();
}

/** The same for a body that is in memory. */
export function encryptBuffer(plaintext: Buffer, key: Buffer): Buffer {
  const encryptor = new PackageEncryptor(key, plaintext.length);
  const blocks = [...encryptor.update(plaintext)];
  const last = encryptor.final();
  return blocks.length === 0 ? last : Buffer.concat([...blocks, last]);
}

/**
 * Decrypts the packages that `cipherRange()` chose; gives only verified plaintext.
 * Throws `DamagedCiphertext`; what was given before is right, what is missing was never given.
 */
export async function* decryptStream(
  ciphertext: AsyncIterable<Buffer>,
  decryption: Decryption,
): AsyncGenerator<Buffer> {
  const decryptor = new PackageDecryptor(decryption);
  for await (const chunk of ciphertext) yield* decryptor.update(chunk);
  decryptor.final();
}

/** The same for ciphertext that is in memory. */
export function decryptBuffer(ciphertext: Buffer, decryption: Decryption): Buffer {
  const decryptor = new PackageDecryptor(decryption);
  const plaintext = [...decryptor.update(ciphertext)];
  decryptor.final();
  const [only] = plaintext;
  return plaintext.length === 1 && only !== undefined ? only : Buffer.concat(plaintext);
}
