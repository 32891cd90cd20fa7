import { createCipheriv } from 'node:crypto';
import { HEADER_SIZE, PACKAGE_SIZE, PackageNonce, STREAM_FORMAT, TAG_SIZE } from './package-format.ts';

/**
 * Encrypts one body whose size is known only at its end, to the same bytes as `PackageEncryptor`. The nonce of a package says if it is the last
 * one, so that this class keeps each package back until more bytes follow.
 */
export class UnsizedPackageEncryptor {
  readonly #key: Buffer;
  readonly #nonce = new PackageNonce();
  readonly #package = Buffer.allocUnsafe(PACKAGE_SIZE);
  #filled = 0;
  #index = 0;

  constructor(key: Buffer) {
    this.#key = key;
  }

  *update(chunk: Buffer): Generator<Buffer> {
    for (let at = 0; at < chunk.length;) {
      if (this.#filled === PACKAGE_SIZE) yield* this.#endPackage(false);
      const copied = chunk.copy(this.#package, this.#filled, at);
      this.#filled += copied;
      at += copied;
    }
  }

  *final(): Generator<Buffer> {
    yield* this.#endPackage(true);
  }

  *#endPackage(last: boolean): Generator<Buffer> {
    if (this.#index === 0) yield Buffer.alloc(HEADER_SIZE, STREAM_FORMAT);
    const nonce = this.#nonce.of(this.#index, last);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce, { authTagLength: TAG_SIZE });
    yield cipher.update(this.#package.subarray(0, this.#filled));
    cipher.final();
    yield cipher.getAuthTag();
    this.#index += 1;
    this.#filled = 0;
  }
}
