import { createCipheriv } from 'node:crypto';
import { freeNow } from './free-now.ts';
import { HEADER_SIZE, PACKAGE_SIZE, packageCount, STREAM_FORMAT, TAG_SIZE } from './package-layout.ts';
import { PackageNonce } from './package-nonce.ts';

/** The plaintext is not as long as was said: nothing that was produced may be kept. */
export class UnexpectedSize extends Error {
  override readonly name = 'UnexpectedSize';
}

/** Ciphertext goes out in blocks of this many packages: small writes cost more than the copy into the block. */
const BLOCK_PACKAGES = 8;

const options = { authTagLength: TAG_SIZE };

export class PackageEncryptor {
  readonly #key: Buffer;
  readonly #size: number;
  readonly #last: number;
  readonly #nonce = new PackageNonce();
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
      const sealed = this.#cipher.update(piece);
      this.#append(sealed);
      freeNow(sealed);
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
    const nonce = this.#nonce.of(this.#index, this.#index === this.#last);
    return createCipheriv('aes-256-gcm', this.#key, nonce, options);
  }

  #newBlock(header: number): Buffer {
    const plaintext = Math.min(this.#size - this.#index * PACKAGE_SIZE, BLOCK_PACKAGES * PACKAGE_SIZE);
    return Buffer.allocUnsafe(header + plaintext + TAG_SIZE * packageCount(plaintext));
  }
}
