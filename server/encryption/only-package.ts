import { createCipheriv, createDecipheriv } from 'node:crypto';
import { DamagedCiphertext } from './damaged-ciphertext.ts';
import { HEADER_SIZE, STREAM_FORMAT, TAG_SIZE } from './package-layout.ts';
import { PackageNonce } from './package-nonce.ts';

/*
 * Streams of one package, at once: what small objects are. `PackageEncryptor` and `PackageDecryptor` say the same of streams of any
 * length, and tests hold that it is the same; going through their pieces took as long again as the cipher.
 */

const options = { authTagLength: TAG_SIZE };
const nonces = new PackageNonce();

/** The ciphertext of a stream of at most `PACKAGE_SIZE` bytes. */
export function sealOnlyPackage(plaintext: Buffer, key: Buffer): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonces.of(0, true), options);
  const end = HEADER_SIZE + plaintext.length;
  const ciphertext = Buffer.allocUnsafe(end + TAG_SIZE);
  ciphertext[0] = STREAM_FORMAT;
  cipher.update(plaintext).copy(ciphertext, HEADER_SIZE);
  cipher.final();
  cipher.getAuthTag().copy(ciphertext, end);
  return ciphertext;
}

/** The plaintext, in a new buffer. Throws `DamagedCiphertext`. */
export function openOnlyPackage(ciphertext: Buffer, key: Buffer): Buffer {
  if (ciphertext[0] !== STREAM_FORMAT) {
    throw new DamagedCiphertext(`the ciphertext has an unknown format (${ciphertext[0]})`);
  }
  const end = ciphertext.length - TAG_SIZE;
  const decipher = createDecipheriv('aes-256-gcm', key, nonces.of(0, true), options);
  const plaintext = decipher.update(ciphertext.subarray(HEADER_SIZE, end));
  decipher.setAuthTag(ciphertext.subarray(end));
  try {
    decipher.final();
  } catch (error) {
    throw new DamagedCiphertext('package 0 of the ciphertext is not authentic', { cause: error });
  }
  return plaintext;
}
