import { createDecipheriv } from 'node:crypto';
import {
  DamagedCiphertext,
  freeNow,
  HEADER_SIZE,
  PACKAGE_SIZE,
  packageCount,
  STREAM_FORMAT,
  TAG_SIZE,
  PackageNonce,
} from './package-format.ts';
import type { Pieces } from '../../platform/pieces.ts';

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

const options = { authTagLength: TAG_SIZE };

/** Opens the packages of a range one after the other, whatever the chunks in which they come. Gives only what was verified. */
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
  /** The first `#tagged` bytes of the tag may come with an earlier chunk. */
  readonly #tag = Buffer.alloc(TAG_SIZE);
  #tagged = 0;
  /** Of the package that is open: not verified yet, and nobody else's. */
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

  /** The plaintext of each package that ends in this chunk, in new buffers. Throws `DamagedCiphertext`, also after giving some. */
  *update(chunk: Buffer): Generator<Buffer> {
    for (let at = this.#afterHeader(chunk); at < chunk.length;) {
      at = this.#take(chunk, at);
      if (this.#tagged !== TAG_SIZE) continue;
      for (const piece of this.#endPackage()) if (piece.length > 0) yield piece;
    }
  }

  /**
   * The same, written over the chunk, which must be the caller's alone: what is verified moves to its front, where it is one piece. Only
   * what came with earlier chunks lies in buffers of its own, before it.
   *
   * A buffer of its own for each package would be left to V8, which starts to mark its whole heap after so many MiB of them.
   * Throws `DamagedCiphertext`, giving nothing of the chunk.
   */
  updateInPlace(chunk: Buffer): Buffer[] {
    const pieces: Buffer[] = [];
    let earlier = this.#plaintext.length;
    let filled = 0;
    for (let at = this.#afterHeader(chunk); at < chunk.length;) {
      at = this.#take(chunk, at);
      if (this.#tagged !== TAG_SIZE) continue;
      for (const piece of this.#endPackage()) {
        if (earlier > 0) {
          earlier -= 1;
          if (piece.length > 0) pieces.push(piece);
        } else {
          // Never longer than the ciphertext that was read by now.
          filled += piece.copy(chunk, filled);
          freeNow(piece);
        }
      }
    }
    if (filled > 0) pieces.push(chunk.subarray(0, filled));
    return pieces;
  }

  /** To be called after the last chunk. Throws `DamagedCiphertext` where more was to come. */
  final(): void {
    if (!this.#done) throw new DamagedCiphertext(`the ciphertext ends inside package ${this.#index}`);
  }

  #afterHeader(chunk: Buffer): number {
    if (this.#headerLeft === 0 || chunk.length === 0) return 0;
    if (chunk[0] !== STREAM_FORMAT) throw new DamagedCiphertext(`the ciphertext has an unknown format (${chunk[0]})`);
    this.#headerLeft = 0;
    return HEADER_SIZE;
  }

  /** Takes what is next in the chunk, bytes of a package or of its tag; returns where it ends. */
  #take(chunk: Buffer, at: number): number {
    if (this.#done) throw new DamagedCiphertext('the ciphertext goes on after its end');
    if (this.#inPackage < this.#packageSize) {
      const piece = chunk.subarray(at, at + this.#packageSize - this.#inPackage);
      this.#plaintext.push(this.#decipher.update(piece));
      this.#inPackage += piece.length;
      return at + piece.length;
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
      throw new DamagedCiphertext(`package ${this.#index} of the ciphertext is not authentic`, { cause: error });
    }
    const kept = this.#plaintext.map((piece) => this.#cut(piece));
    this.#plaintext = [];
    this.#done = this.#left === 0;
    this.#index += 1;
    if (!this.#done && this.#index > this.#last) throw new DamagedCiphertext('the ciphertext ends too early');
    this.#tagged = 0;
    if (this.#done) return kept;
    this.#inPackage = 0;
    this.#packageSize = this.#sizeOfPackage();
    this.#decipher = this.#newDecipher();
    return kept;
  }

  /** What is asked for of the plaintext that is next. */
  #cut(piece: Buffer): Buffer {
    const from = Math.min(this.#skip, piece.length);
    this.#skip -= from;
    const kept = from === 0 && piece.length <= this.#left ? piece : piece.subarray(from, from + this.#left);
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
 * The plaintext of lent ciphertext, lent on: it lies where the ciphertext lay, so that a reader needs no more memory than one of plain
 * bytes, and each piece of ciphertext becomes one of plaintext where pieces end with packages (`packageCuts`).
 *
 * Gives only what was verified; rejects with `DamagedCiphertext`.
 */
export class DecryptedPieces implements Pieces<'lent'> {
  readonly tenure = 'lent';
  readonly #ciphertext: Pieces;
  readonly #decryptor: PackageDecryptor;
  #ready: Buffer[] = [];

  /** @param ciphertext of `cipherRange()`; its buffers are written into. */
  constructor(ciphertext: Pieces, decryption: Decryption) {
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
