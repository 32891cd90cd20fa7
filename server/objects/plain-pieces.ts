import type { Pieces, Tenure } from '../../platform/pieces.ts';
import { type Check, checkOf, type Sums } from './checksums/check-of.ts';

export interface PlainPiecesOptions {
  /** Bytes that all pieces together have. */
  readonly length: number;
  /** Of the bytes, where they are a whole body: those of a part of it are known by nothing. */
  readonly whole?: Sums;
  /** What is thrown where the bytes are not those that were stored. */
  readonly damage: () => Error;
}

/**
 * Stored bytes that are not encrypted. The last piece is given only when all hold against their checksum, so that a body that turns out
 * damaged never looks finished to who reads it.
 */
export class PlainPieces<T extends Tenure> implements Pieces<T> {
  readonly tenure: T;
  readonly #source: Pieces<T>;
  readonly #check: Check | undefined;
  readonly #damage: () => Error;
  #left: number;

  constructor(source: Pieces<T>, { length, whole, damage }: PlainPiecesOptions) {
    this.tenure = source.tenure;
    this.#source = source;
    this.#check = whole && checkOf(whole);
    this.#damage = damage;
    this.#left = length;
  }

  async next(): Promise<Buffer | undefined> {
    const piece = await this.#source.next();
    if (piece === undefined) {
      if (this.#left > 0) throw this.#damage();
      return undefined;
    }
    this.#check?.update(piece);
    this.#left -= piece.length;
    if (this.#left < 0 || (this.#left === 0 && this.#check?.holds() === false)) throw this.#damage();
    return piece;
  }

  close(): Promise<void> {
    return this.#source.close();
  }
}
