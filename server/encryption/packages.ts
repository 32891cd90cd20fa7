import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import {
  HEADER_SIZE,
  STREAM_FORMAT,
  TAG_SIZE,
  PackageNonce,
  cipherSize,
  packageCount,
  packageCuts,
} from './package-format.ts';
import { type Decryption, PackageDecryptor } from './package-decryptor.ts';
import { PackageEncryptor } from './package-encryptor.ts';
import { UnsizedPackageEncryptor } from './unsized-encryptor.ts';
import { StoreError } from '../store/store-error.ts';

/*
 * A fast path for streams of one package, which small objects are. It makes the same bytes as `PackageEncryptor` and `PackageDecryptor`,
 * whose generators take as long as the cipher (tests compare both).
 */

const options = { authTagLength: TAG_SIZE };
const nonces = new PackageNonce();

/** Encrypts a stream of at most `PACKAGE_SIZE` bytes. */
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

/** Decrypts a stream of one package into a new buffer. Throws `StoreError` with the code `ciphertext-damaged`. */
export function openOnlyPackage(ciphertext: Buffer, key: Buffer): Buffer {
  if (ciphertext[0] !== STREAM_FORMAT) {
    throw new StoreError('ciphertext-damaged', `the ciphertext has an unknown format (${ciphertext[0]})`);
  }
  const end = ciphertext.length - TAG_SIZE;
  const decipher = createDecipheriv('aes-256-gcm', key, nonces.of(0, true), options);
  const plaintext = decipher.update(ciphertext.subarray(HEADER_SIZE, end));
  decipher.setAuthTag(ciphertext.subarray(end));
  try {
    decipher.final();
  } catch (error) {
    throw new StoreError('ciphertext-damaged', 'package 0 of the ciphertext is not authentic', { cause: error });
  }
  return plaintext;
}

export type { Decryption } from './package-decryptor.ts';

/**
 * The body format of encrypted objects: AES-256-GCM in packages (see `package-format.ts`). Each stream has its own key. The nonce of a
 * package is its index and a mark of the last one. So a package that is moved, missing or of another stream does not decrypt, and a range
 * decrypts without the rest.
 */

/** The length of the random salt in bytes. Every upload attempt and every part has its own salt. */
export const SALT_SIZE = 16;

/** Part of the format, so it must never change. */
const STREAM_INFO = 'coffer object stream 1';

/** Derives the 32-byte key of one stream. The same object key and salt must never encrypt two streams. */
export function streamKey(objectKey: Buffer, salt: Buffer): Buffer {
  if (salt.length !== SALT_SIZE) throw new RangeError(`a salt has ${SALT_SIZE} bytes, not ${salt.length}`);
  return Buffer.from(hkdfSync('sha256', objectKey, salt, STREAM_INFO, 32));
}

/** Ciphertext is copied into blocks of this size, because small writes cost more than the copy. */
const BLOCK_BYTES = 8 * packageCuts.every;

/**
 * Encrypts a body of exactly `size` bytes, or of any size where it is undefined, with chunks of any length. `key` comes from
 * `streamKey()`. Throws `RangeError` if the body is longer or shorter.
 */
export async function* encryptStream(
  body: AsyncIterable<Buffer>,
  key: Buffer,
  size: number | undefined,
): AsyncGenerator<Buffer> {
  const encryptor = size === undefined ? new UnsizedPackageEncryptor(key) : new PackageEncryptor(key, size);
  const blocks = new CipherBlocks(size);
  for await (const chunk of body) yield* blocks.gather(encryptor.update(chunk));
  yield* blocks.gather(encryptor.final());
  yield* blocks.rest();
}

/** Encrypts a body in memory. */
export function encryptBuffer(plaintext: Buffer, key: Buffer): Buffer {
  if (packageCount(plaintext.length) === 1) return sealOnlyPackage(plaintext, key);
  const encryptor = new PackageEncryptor(key, plaintext.length);
  const ciphertext = Buffer.allocUnsafe(cipherSize(plaintext.length));
  let filled = 0;
  for (const bytes of encryptor.update(plaintext)) filled += bytes.copy(ciphertext, filled);
  for (const bytes of encryptor.final()) filled += bytes.copy(ciphertext, filled);
  return ciphertext;
}

/** Gathers the ciphertext of `size` plaintext bytes, or of any number, into new blocks. */
class CipherBlocks {
  #left: number;
  #block: Buffer;
  #filled = 0;

  constructor(size: number | undefined) {
    this.#left = size === undefined ? Infinity : cipherSize(size);
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

  /** Yields the last block, if it is not full. */
  *rest(): Generator<Buffer> {
    if (this.#filled > 0) yield this.#block.subarray(0, this.#filled);
  }

  #newBlock(): Buffer {
    const block = Buffer.allocUnsafe(Math.min(this.#left, BLOCK_BYTES));
    this.#left -= block.length;
    return block;
  }
}

/**
 * Decrypts the packages that `cipherRange()` selected. It yields only verified plaintext. It may throw `StoreError` with the code `ciphertext-damaged` after some of
 * it.
 */
export async function* decryptStream(
  ciphertext: AsyncIterable<Buffer>,
  decryption: Decryption,
): AsyncGenerator<Buffer> {
  const decryptor = new PackageDecryptor(decryption);
  for await (const chunk of ciphertext) yield* decryptor.update(chunk);
  decryptor.final();
}

/** Decrypts ciphertext in memory. */
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
