import type { Pieces, Tenure } from './pieces.ts';

/** The pieces of several bodies, one body after the other; each is opened when the one before has ended and was closed. */
export class JoinedPieces<T extends Tenure> implements Pieces<T> {
  readonly tenure: T;
  readonly #bodies: Iterator<Pieces<T>>;
  #current: Pieces<T> | undefined;
  #ended = false;

  constructor(tenure: T, bodies: Iterable<Pieces<T>>) {
    this.tenure = tenure;
    this.#bodies = bodies[Symbol.iterator]();
  }

  async next(): Promise<Buffer | undefined> {
    while (!this.#ended) {
      const current = (this.#current ??= this.#open());
      const piece = await current?.next();
      if (piece !== undefined) return piece;
      await this.#closeCurrent();
    }
    return undefined;
  }

  close(): Promise<void> {
    this.#ended = true;
    return this.#closeCurrent();
  }

  #open(): Pieces<T> | undefined {
    const result = this.#bodies.next();
    if (result.done !== true) return result.value;
    this.#ended = true;
    return undefined;
  }

  async #closeCurrent(): Promise<void> {
    const current = this.#current;
    this.#current = undefined;
    await current?.close();
  }
}
