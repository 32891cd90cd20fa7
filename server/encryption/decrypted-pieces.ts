import type { Pieces } from '../../platform/pieces.ts';
import { type Decryption, PackageDecryptor } from './package-decryptor.ts';

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
