import type { Pieces, Tenure } from '../../platform/pieces.ts';

/** Pieces that are opened when the first is asked for: what opening them throws comes from there, as what reading them throws does. */
export class LatePieces<T extends Tenure> implements Pieces<T> {
  readonly tenure: T;
  readonly #open: () => Pieces<T>;
  readonly #translate: (error: unknown) => unknown;
  #pieces: Pieces<T> | undefined;
  #closed = false;

  /** @param translate what a failure becomes */
  constructor(tenure: T, open: () => Pieces<T>, translate: (error: unknown) => unknown) {
    this.tenure = tenure;
    this.#open = open;
    this.#translate = translate;
  }

  async next(): Promise<Buffer | undefined> {
    if (this.#closed) return undefined;
    try {
      this.#pieces ??= this.#open();
      return await this.#pieces.next();
    } catch (error) {
      throw this.#translate(error);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#pieces?.close();
  }
}
