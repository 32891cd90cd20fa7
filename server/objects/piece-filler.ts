import type { Seat } from './hashing/seats.ts';
import type { PieceQueue } from './piece-queue.ts';

/** Copies bytes into the pieces of a seat, and hands over those that are full: chunks are of any size, and their buffers not at pages. */
export class PieceFiller {
  readonly #seat: Seat;
  readonly #queue: PieceQueue;
  readonly #filled: (bytes: Buffer) => void;
  #piece: Buffer | undefined;
  #used = 0;

  /** @param filled is told of each piece that is handed over */
  constructor(seat: Seat, queue: PieceQueue, filled: (bytes: Buffer) => void = () => undefined) {
    this.#seat = seat;
    this.#queue = queue;
    this.#filled = filled;
  }

  /** Undefined where there is room for all; else the bytes must stay as they are until it resolves. */
  copy(bytes: Buffer, from = 0): Promise<void> | undefined {
    for (let at = from; at < bytes.length;) {
      this.#piece ??= this.#seat.empty();
      if (this.#piece === undefined) return this.#copyLater(bytes, at);
      const copied = bytes.copy(this.#piece, this.#used, at);
      at += copied;
      this.#used += copied;
      if (this.#used === this.#piece.length) this.#hand(this.#piece);
    }
    return undefined;
  }

  /** The same for parts of which each must be copied before the next is asked for. */
  copyEach(parts: Iterator<Buffer>): Promise<void> | undefined {
    for (let part = parts.next(); part.done !== true; part = parts.next()) {
      const waiting = this.copy(part.value);
      if (waiting !== undefined) return waiting.then(() => this.copyEach(parts));
    }
    return undefined;
  }

  /** After the last byte. */
  finish(): void {
    if (this.#piece !== undefined && this.#used > 0) this.#hand(this.#piece);
  }

  async #copyLater(bytes: Buffer, at: number): Promise<void> {
    await this.#seat.emptied();
    await this.copy(bytes, at);
  }

  #hand(piece: Buffer): void {
    this.#filled(piece.subarray(0, this.#used));
    this.#queue.push(this.#seat.hand(this.#used));
    this.#piece = undefined;
    this.#used = 0;
  }
}
