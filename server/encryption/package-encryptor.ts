import { createCipheriv } from 'node:crypto';
import { freeNow } from '../streams/body-memory.ts';
import { PACKAGE_SIZE, packageCount, STREAM_FORMAT, TAG_SIZE, PackageNonce } from './package-format.ts';

const options = { authTagLength: TAG_SIZE };

/**
 * Encrypts one body of exactly `size` bytes. The caller must copy each buffer before it asks for the next, because the memory is freed
 * then.
 */
export class PackageEncryptor {
  readonly #key: Buffer;
  readonly #size: number;
  readonly #last: number;
  readonly #nonce = new PackageNonce();
  #index = 0;
  #inPackage = 0;
  #total = 0;
  #cipher;

  constructor(key: Buffer, size: number) {
    this.#key = key;
    this.#size = size;
    this.#last = packageCount(size) - 1;
    this.#cipher = this.#newCipher();
  }

  /** Throws `RangeError` if there are more bytes than announced. */
  *update(chunk: Buffer): Generator<Buffer> {
    if (this.#total === 0 && chunk.length > 0) yield header();
    this.#total += chunk.length;
    if (this.#total > this.#size) throw new RangeError(`the body has more than the ${this.#size} bytes announced`);
    for (let at = 0; at < chunk.length;) {
      // A full package ends only when more bytes follow, because `final` ends the last one.
      if (this.#inPackage === PACKAGE_SIZE) {
        yield this.#endPackage();
        this.#index += 1;
        this.#inPackage = 0;
        this.#cipher = this.#newCipher();
      }
      const part = chunk.subarray(at, at + PACKAGE_SIZE - this.#inPackage);
      const sealed = this.#cipher.update(part);
      this.#inPackage += part.length;
      at += part.length;
      yield sealed;
      freeNow(sealed);
    }
  }

  /** Yields the rest. Throws `RangeError` if there were fewer bytes than announced. */
  *final(): Generator<Buffer> {
    if (this.#total !== this.#size) {
      throw new RangeError(`the body has ${this.#total} bytes, not the ${this.#size} announced`);
    }
    if (this.#size === 0) yield header();
    yield this.#endPackage();
  }

  #endPackage(): Buffer {
    this.#cipher.final();
    return this.#cipher.getAuthTag();
  }

  #newCipher() {
    const nonce = this.#nonce.of(this.#index, this.#index === this.#last);
    return createCipheriv('aes-256-gcm', this.#key, nonce, options);
  }
}

function header(): Buffer {
  return Buffer.of(STREAM_FORMAT);
}
