import { createDecipheriv } from 'node:crypto';
import { freeNow } from '../streams/body-memory.ts';
import { HEADER_SIZE, PACKAGE_SIZE, packageCount, STREAM_FORMAT, TAG_SIZE, PackageNonce } from './package-format.ts';
import type { Chunks } from '../streams/chunks.ts';
import { StoreError } from '../store/store-error.ts';

export interface Decryption {
  /** A key from `streamKey()`. */
  readonly key: Buffer;
  /** The length of the whole plaintext. */
  readonly size: number;
  /** These come from `cipherRange()`. */
  readonly firstPackage: number;
  readonly skip: number;
  readonly length: number;
}

const options = { authTagLength: TAG_SIZE };

/** Decrypts the packages of a range from chunks of any size. It returns only verified plaintext. */
export class PackageDecryptor {
  readonly #key: Buffer;
  readonly #size: number;
  readonly #last: number;
  readonly #nonce = new PackageNonce();
  #skip: number;
  #left: number;
  #headerLeft: number;
  #index: number;
  #inPackage = 0;
  #packageSize: number;
  /** The tag of the package. Its first `#tagged` bytes are known: a chunk may end inside it. */
  readonly #tag = Buffer.alloc(TAG_SIZE);
  #tagged = 0;
  /** The plaintext of the current package, which is not verified yet. */
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

  /** Yields the plaintext of each package that ends in this chunk, in new buffers. It may throw `StoreError` with the code `ciphertext-damaged` after some of them. */
  *update(chunk: Buffer): Generator<Buffer> {
    for (let at = this.#afterHeader(chunk); at < chunk.length;) {
      at = this.#take(chunk, at);
      if (this.#tagged !== TAG_SIZE) continue;
      for (const part of this.#endPackage()) if (part.length > 0) yield part;
    }
  }

  /**
   * Does the same in place: it copies verified plaintext to the front of the chunk, which the caller must own. Only plaintext of earlier
   * chunks is in buffers of its own.
   *
   * This avoids a buffer for each package: V8 marks its whole heap after some MiB of them. Throws `StoreError` with the code `ciphertext-damaged` and then returns
   * nothing of the chunk.
   */
  updateInPlace(chunk: Buffer): Buffer[] {
    const chunks: Buffer[] = [];
    let earlier = this.#plaintext.length;
    let filled = 0;
    for (let at = this.#afterHeader(chunk); at < chunk.length;) {
      at = this.#take(chunk, at);
      if (this.#tagged !== TAG_SIZE) continue;
      for (const part of this.#endPackage()) {
        if (earlier > 0) {
          earlier -= 1;
          if (part.length > 0) chunks.push(part);
        } else {
          // The plaintext is never longer than the ciphertext so far, so this overwrites only processed bytes.
          filled += part.copy(chunk, filled);
          freeNow(part);
        }
      }
    }
    if (filled > 0) chunks.push(chunk.subarray(0, filled));
    return chunks;
  }

  /** Must be called after the last chunk. Throws `StoreError` with the code `ciphertext-damaged` if the ciphertext is incomplete. */
  final(): void {
    if (!this.#done) throw new StoreError('ciphertext-damaged', `the ciphertext ends inside package ${this.#index}`);
  }

  #afterHeader(chunk: Buffer): number {
    if (this.#headerLeft === 0 || chunk.length === 0) return 0;
    if (chunk[0] !== STREAM_FORMAT)
      throw new StoreError('ciphertext-damaged', `the ciphertext has an unknown format (${chunk[0]})`);
    this.#headerLeft = 0;
    return HEADER_SIZE;
  }

  /** Takes the next bytes of the chunk, of a package or of its tag. Returns where they end. */
  #take(chunk: Buffer, at: number): number {
    if (this.#done) throw new StoreError('ciphertext-damaged', 'the ciphertext continues after its end');
    if (this.#inPackage < this.#packageSize) {
      const part = chunk.subarray(at, at + this.#packageSize - this.#inPackage);
      this.#plaintext.push(this.#decipher.update(part));
      this.#inPackage += part.length;
      return at + part.length;
    }
    const copied = chunk.copy(this.#tag, this.#tagged, at, at + TAG_SIZE - this.#tagged);
    this.#tagged += copied;
    return at + copied;
  }

  #endPackage(): Buffer[] {
    this.#decipher.setAuthTag(this.#tag);
    try {
      this.#decipher.final();
    } catch (error) {
      throw new StoreError('ciphertext-damaged', `package ${this.#index} of the ciphertext is not authentic`, {
        cause: error,
      });
    }
    const kept = this.#plaintext.map((chunk) => this.#cut(chunk));
    this.#plaintext = [];
    this.#done = this.#left === 0;
    this.#index += 1;
    if (!this.#done && this.#index > this.#last)
      throw new StoreError('ciphertext-damaged', 'the ciphertext ends too early');
    this.#tagged = 0;
    if (this.#done) return kept;
    this.#inPackage = 0;
    this.#packageSize = this.#sizeOfPackage();
    this.#decipher = this.#newDecipher();
    return kept;
  }

  /** Returns the part of the next plaintext that is in the range. */
  #cut(chunk: Buffer): Buffer {
    const from = Math.min(this.#skip, chunk.length);
    this.#skip -= from;
    const kept = from === 0 && chunk.length <= this.#left ? chunk : chunk.subarray(from, from + this.#left);
    this.#left -= kept.length;
    return kept;
  }

  #newDecipher() {
    const nonce = this.#nonce.of(this.#index, this.#index === this.#last);
    return createDecipheriv('aes-256-gcm', this.#key, nonce, options);
  }

  #sizeOfPackage(): number {
    return this.#index === this.#last ? this.#size - this.#last * PACKAGE_SIZE : PACKAGE_SIZE;
  }
}

/**
 * Decrypts borrowed chunks in place, so that a reader needs no more memory than for plain bytes. If chunks end with packages
 * (`packageCuts`), each chunk of ciphertext becomes one chunk of plaintext.
 *
 * It returns only verified plaintext, and rejects with `StoreError` with the code `ciphertext-damaged`.
 */
export class DecryptedChunks implements Chunks<'lent'> {
  readonly ownership = 'lent';
  readonly #ciphertext: Chunks;
  readonly #decryptor: PackageDecryptor;
  #ready: Buffer[] = [];

  /** @param ciphertext the range of `cipherRange()`; its buffers are overwritten. */
  constructor(ciphertext: Chunks, decryption: Decryption) {
    this.#ciphertext = ciphertext;
    this.#decryptor = new PackageDecryptor(decryption);
  }

  async next(): Promise<Buffer | undefined> {
    for (;;) {
      const ready = this.#ready.shift();
      if (ready !== undefined) return ready;
      const chunk = await this.#ciphertext.next();
      if (chunk === undefined) {
        this.#decryptor.final();
        return undefined;
      }
      this.#ready = this.#decryptor.updateInPlace(chunk);
    }
  }

  close(): Promise<void> {
    this.#ready = [];
    return this.#ciphertext.close();
  }
}
