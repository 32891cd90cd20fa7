import { createCipheriv, createDecipheriv } from 'node:crypto';
import {
  DamagedCiphertext,
  HEADER_SIZE,
  STREAM_FORMAT,
  TAG_SIZE,
  PackageNonce,
  cipherSize,
  packageCount,
  packageCuts,
} from './package-format.ts';
import { HkdfSha256 } from './hkdf-sha256.ts';
import { type Decryption, PackageDecryptor } from './package-decryptor.ts';
import { PackageEncryptor } from './package-encryptor.ts';

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

export { DamagedCiphertext } from './package-format.ts';
export type { Decryption } from './package-decryptor.ts';
export { UnexpectedSize } from './package-encryptor.ts';

/**
 * The body format of encrypted objects: AES-256-GCM in packages (see `package-format.ts`). The nonce of a package is its index and
 * whether it is the last, under a key that no other stream has, so that packages neither move, nor get lost, nor come from elsewhere
 * unnoticed, and a range decrypts alone.
 */

/** Bytes of the random salt that every upload attempt and part has of its own. */
export const SALT_SIZE = 16;

/** Part of the format: never to be changed. */
const derivation = new HkdfSha256('coffer object stream 1');

/** The 32-byte key of one stream. The same object key and salt must never encrypt two streams. */
export function streamKey(objectKey: Buffer, salt: Buffer): Buffer {
  if (salt.length !== SALT_SIZE) throw new RangeError(`a salt has ${SALT_SIZE} bytes, not ${salt.length}`);
  return derivation.derive(objectKey, salt);
}

/** Ciphertext goes out in blocks of so many bytes: small writes cost more than the copy into the block. */
const BLOCK_BYTES = 8 * packageCuts.every;

/**
 * Encrypts a body of exactly `size` bytes; its chunks may have any length. `key` is of `streamKey()`.
 * Throws `UnexpectedSize` when the body is longer or shorter.
 */
export async function* encryptStream(body: AsyncIterable<Buffer>, key: Buffer, size: number): AsyncGenerator<Buffer> {
  const encryptor = new PackageEncryptor(key, size);
  const blocks = new CipherBlocks(size);
  for await (const chunk of body) yield* blocks.gather(encryptor.update(chunk));
  yield* blocks.gather(encryptor.final());
}

/** The same for a body that is in memory. */
export function encryptBuffer(plaintext: Buffer, key: Buffer): Buffer {
  if (packageCount(plaintext.length) === 1) return sealOnlyPackage(plaintext, key);
  const encryptor = new PackageEncryptor(key, plaintext.length);
  const ciphertext = Buffer.allocUnsafe(cipherSize(plaintext.length));
  let filled = 0;
  for (const bytes of encryptor.update(plaintext)) filled += bytes.copy(ciphertext, filled);
  for (const bytes of encryptor.final()) filled += bytes.copy(ciphertext, filled);
  return ciphertext;
}

/** New blocks that together are the ciphertext of `size` plaintext bytes. */
class CipherBlocks {
  #left: number;
  #block: Buffer;
  #filled = 0;

  constructor(size: number) {
    this.#left = cipherSize(size);
    this.#block = this.#newBlock();
  }

  *gather(parts: Iterable<Buffer>): Generator<Buffer> {
    for (const part of parts) {
      for (let at = 0; at < part.length;) {
        const copied = part.copy(this.#block, this.#filled, at);
        at += copied;
        this.#filled += copied;
        if (this.#filled < this.#block.length) continue;
        yield this.#block;
        this.#block = this.#newBlock();
        this.#filled = 0;
      }
    }
  }

  #newBlock(): Buffer {
    const block = Buffer.allocUnsafe(Math.min(this.#left, BLOCK_BYTES));
    this.#left -= block.length;
    return block;
  }
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
  if (packageCount(decryption.size) === 1 && ciphertext.length === cipherSize(decryption.size)) {
    const { skip, length } = decryption;
    return openOnlyPackage(ciphertext, decryption.key).subarray(skip, skip + length);
  }
  const decryptor = new PackageDecryptor(decryption);
  const plaintext = [...decryptor.update(ciphertext)];
  decryptor.final();
  const [only] = plaintext;
  return plaintext.length === 1 && only !== undefined ? only : Buffer.concat(plaintext);
}
