import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { HEADER_SIZE, PACKAGE_SIZE, packageCount, STREAM_FORMAT, TAG_SIZE } from './package-layout.ts';

/**
 * The body format of encrypted objects: AES-256-GCM in packages (see `package-layout.ts`). The nonce of a package is its index and
 * whether it is the last, under a key that no other stream has, so that packages neither move, nor get lost, nor come from elsewhere
 * unnoticed, and a range decrypts alone.
 */

/** Bytes of the random salt that every upload attempt and part has of its own. */
export const SALT_SIZE = 16;

/** The ciphertext was changed, cut, reordered, or is not of this key. */
export class DamagedCiphertext extends Error {
  override readonly name = 'DamagedCiphertext';
}

/** The plaintext is not as long as was said: nothing that was produced may be kept. */
export class UnexpectedSize extends Error {
  override readonly name = 'UnexpectedSize';
}

/** The 32-byte key of one stream. The same object key and salt must never encrypt two streams. */
export function streamKey(objectKey: Buffer, salt: Buffer): Buffer {
  if (salt.length !== SALT_SIZE) throw new RangeError(`a salt has ${SALT_SIZE} bytes, not ${salt.length}`);
  return Buffer.from(hkdfSync('sha256', objectKey, salt, 'coffer object stream 1', 32));
}

/** Ciphertext goes out in blocks of this many packages: small writes cost more than the copy into the block. */
const BLOCK_PACKAGES = 8;

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
  return Buffer.concat([...encryptor.update(plaintext), encryptor.final()]);
}

class PackageEncryptor {
  readonly #key: Buffer;
  readonly #size: number;
  readonly #last: number;
  #index = 0;
  #inPackage = 0;
  #total = 0;
  #block: Buffer;
  #used: number;
  #cipher;

  constructor(key: Buffer, size: number) {
    this.#key = key;
    this.#size = size;
    this.#last = packageCount(size) - 1;
    this.#block = this.#newBlock(HEADER_SIZE);
    this.#block[0] = STREAM_FORMAT;
    this.#used = HEADER_SIZE;
    this.#cipher = this.#newCipher();
  }

  *update(chunk: Buffer): Generator<Buffer> {
    this.#total += chunk.length;
    if (this.#total > this.#size) throw new UnexpectedSize(`the body has more than the ${this.#size} bytes announced`);
    for (let at = 0; at < chunk.length;) {
      // A full package ends only when more comes: the last one is ended by `final`.
      if (this.#inPackage === PACKAGE_SIZE) {
        this.#endPackage();
        if (this.#used === this.#block.length) {
          yield this.#block;
          this.#block = this.#newBlock(0);
          this.#used = 0;
        }
        this.#index += 1;
        this.#inPackage = 0;
        this.#cipher = this.#newCipher();
      }
      const piece = chunk.subarray(at, at + PACKAGE_SIZE - this.#inPackage);
      this.#append(this.#cipher.update(piece));
      this.#inPackage += piece.length;
      at += piece.length;
    }
  }

  /** The rest of the ciphertext. */
  final(): Buffer {
    if (this.#total !== this.#size) {
      throw new UnexpectedSize(`the body has ${this.#total} bytes, not the ${this.#size} announced`);
    }
    this.#endPackage();
    return this.#block.subarray(0, this.#used);
  }

  #endPackage(): void {
    this.#cipher.final();
    this.#append(this.#cipher.getAuthTag());
  }

  #append(bytes: Buffer): void {
    bytes.copy(this.#block, this.#used);
    this.#used += bytes.length;
  }

  #newCipher() {
    return createCipheriv('aes-256-gcm', this.#key, nonceOf(this.#index, this.#index === this.#last), {
      authTagLength: TAG_SIZE,
    });
  }

  #newBlock(header: number): Buffer {
    const plaintext = Math.min(this.#size - this.#index * PACKAGE_SIZE, BLOCK_PACKAGES * PACKAGE_SIZE);
    return Buffer.allocUnsafe(header + plaintext + TAG_SIZE * packageCount(plaintext));
  }
}

export interface Decryption {
  /** Of `streamKey()`. */
  readonly key: Buffer;
  /** Plaintext bytes of the whole stream. */
  readonly size: number;
  /** Of `cipherRange()`: what the ciphertext begins with, and what to keep. */
  readonly firstPackage: number;
  readonly skip: number;
  readonly length: number;
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

class PackageDecryptor {
  readonly #key: Buffer;
  readonly #size: number;
  readonly #last: number;
  #skip: number;
  #left: number;
  #headerLeft: number;
  #index: number;
  #inPackage = 0;
  #packageSize: number;
  /** The first `#tagged` bytes of the tag may come with an earlier chunk. */
  readonly #tag = Buffer.alloc(TAG_SIZE);
  #tagged = 0;
  #plaintext: Buffer[] = [];
  #decipher;
  #done = false;

  constructor(decryption: Decryption) {
    this.#key = decryption.key;
    this.#size = decryption.size;
    this.#last = packageCount(decryption.size) - 1;
    this.#skip = decryption.skip;
    this.#left = decryption.length;
    this.#index = decryption.firstPackage;
    this.#headerLeft = decryption.firstPackage === 0 ? HEADER_SIZE : 0;
    this.#packageSize = this.#sizeOfPackage();
    this.#decipher = this.#newDecipher();
  }

  *update(chunk: Buffer): Generator<Buffer> {
    let at = 0;
    if (this.#headerLeft > 0 && chunk.length > 0) {
      if (chunk[0] !== STREAM_FORMAT) throw new DamagedCiphertext(`the ciphertext has an unknown format (${chunk[0]})`);
      this.#headerLeft = 0;
      at = HEADER_SIZE;
    }
    while (at < chunk.length) {
      if (this.#done) throw new DamagedCiphertext('the ciphertext goes on after its end');
      if (this.#inPackage < this.#packageSize) {
        const piece = chunk.subarray(at, at + this.#packageSize - this.#inPackage);
        this.#plaintext.push(this.#decipher.update(piece));
        this.#inPackage += piece.length;
        at += piece.length;
        continue;
      }
      const piece = chunk.subarray(at, at + TAG_SIZE - this.#tagged);
      piece.copy(this.#tag, this.#tagged);
      this.#tagged += piece.length;
      at += piece.length;
      if (this.#tagged === TAG_SIZE) yield* this.#endPackage();
    }
  }

  final(): void {
    if (!this.#done) throw new DamagedCiphertext(`the ciphertext ends inside package ${this.#index}`);
  }

  *#endPackage(): Generator<Buffer> {
    this.#decipher.setAuthTag(this.#tag);
    try {
      this.#decipher.final();
    } catch (error) {
      throw new DamagedCiphertext(`package ${this.#index} of the ciphertext is not authentic`, { cause: error });
    }
    for (const piece of this.#plaintext) {
      const from = Math.min(this.#skip, piece.length);
      const kept = piece.subarray(from, from + this.#left);
      this.#skip -= from;
      this.#left -= kept.length;
      if (kept.length > 0) yield kept;
    }
    this.#plaintext = [];
    this.#done = this.#left === 0;
    this.#index += 1;
    if (!this.#done && this.#index > this.#last) throw new DamagedCiphertext('the ciphertext ends too early');
    if (this.#done) return;
    this.#inPackage = 0;
    this.#tagged = 0;
    this.#packageSize = this.#sizeOfPackage();
    this.#decipher = this.#newDecipher();
  }

  #newDecipher() {
    return createDecipheriv('aes-256-gcm', this.#key, nonceOf(this.#index, this.#index === this.#last), {
      authTagLength: TAG_SIZE,
    });
  }

  #sizeOfPackage(): number {
    return this.#index === this.#last ? this.#size - this.#last * PACKAGE_SIZE : PACKAGE_SIZE;
  }
}

/** 96 bits: whether it is the last package, three zero bytes, the index. */
function nonceOf(index: number, last: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce[0] = last ? 1 : 0;
  nonce.writeBigUInt64BE(BigInt(index), 4);
  return nonce;
}
