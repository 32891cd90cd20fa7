import { AsyncLocalStorage } from 'node:async_hooks';
import type { Pieces, Tenure } from '../../platform/pieces.ts';

/**
 * Pieces that are opened when the first is asked for: what opening them throws comes from there, as what reading them throws does. They are
 * read in the context in which they were made, so that a trace has the reading below its request.
 */
export class LatePieces<T extends Tenure> implements Pieces<T> {
  readonly tenure: T;
  readonly #open: () => Pieces<T>;
  readonly #translate: (error: unknown) => unknown;
  readonly #inContext = AsyncLocalStorage.snapshot();
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
      return await this.#inContext(() => (this.#pieces ??= this.#open()).next());
    } catch (error) {
      throw this.#translate(error);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#pieces?.close();
  }
}
