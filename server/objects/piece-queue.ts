import type { Piece } from '../store/blob-store.ts';

/** Pieces that are pushed here and taken by the store. It holds no more than whoever pushes has. */
export class PieceQueue implements AsyncIterableIterator<Piece, undefined> {
  readonly #pieces: Piece[] = [];
  #end: { readonly failed: boolean; readonly error?: unknown } | undefined;
  #closed = false;
  #wake: (() => void) | undefined;

  push(piece: Piece): void {
    if (this.#closed) return piece.release();
    this.#pieces.push(piece);
    this.#wake?.();
  }

  end(): void {
    this.#end ??= { failed: false };
    this.#wake?.();
  }

  fail(error: unknown): void {
    this.#end ??= { failed: true, error };
    this.#wake?.();
  }

  /** To be called when the store has settled: what it did not take, it will not. */
  close(): void {
    this.#closed = true;
    for (const piece of this.#pieces.splice(0)) piece.release();
  }

  /** Throws once the store takes no more: it has failed, and says why itself. */
  throwIfClosed(): void {
    if (this.#closed) throw new Error('the store takes no more of this body');
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Piece, undefined>> {
    for (;;) {
      if (this.#end?.failed === true) throw this.#end.error;
      const value = this.#pieces.shift();
      if (value !== undefined) return { done: false, value };
      if (this.#end !== undefined) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  return(): Promise<IteratorResult<Piece, undefined>> {
    this.close();
    return Promise.resolve({ done: true, value: undefined });
  }
}
