import { bodyBytesPassed } from '../../platform/body-buffers.ts';
import { DigestsInProgress } from './checksums/body-digests.ts';
import { checkLength } from './collect-body.ts';
import { discardBlob } from './discard-blob.ts';
import type { Environment } from './environment.ts';
import type { Seat } from './hashing/seats.ts';
import type { IncomingBody, ReceivedBody } from './incoming-body.ts';
import { newBlobId } from './new-id.ts';
import type { BodySource } from './object-layer.ts';
import { PieceQueue } from './piece-queue.ts';

/** The same as `receiveBody` for a plain body that becomes a blob; its MD5 is computed on the hashing thread, of the bytes as they are written. */
export async function receiveAtSeat(
  environment: Environment,
  incoming: IncomingBody,
  seat: Seat,
): Promise<ReceivedBody> {
  const { blobs, clock, random } = environment;
  const digests = new DigestsInProgress(incoming.digests, { md5: 'elsewhere', sum: true });
  const blob = newBlobId(clock(), random);
  let md5: Promise<Buffer> | undefined;
  const queue = new PieceQueue();
  const filler = new Filler(incoming, digests, seat, queue);
  const poured = (async () => {
    try {
      await pourInto(incoming.body, filler);
      // While the store writes and flushes what it has.
      md5 = seat.digest();
      queue.end();
    } catch (error) {
      queue.fail(error);
    }
  })();
  try {
    await blobs.writePieces?.(blob, queue);
    try {
      const result = digests.finish(await md5);
      if (result.sums === undefined) throw new Error('a plain body has a sum');
      return { digests: result, protection: result.sums, stored: { kind: 'blob', blob } };
    } catch (error) {
      await discardBlob(environment, blob);
      throw error;
    }
  } finally {
    queue.close();
    // Where the store failed, a chunk may still be on its way into a piece.
    void poured.then(() => seat.leave());
  }
}

async function pourInto(body: BodySource, filler: Filler): Promise<void> {
  const take = (chunk: Buffer) => filler.take(chunk);
  if (body.pour !== undefined) await body.pour(take);
  else for await (const chunk of body) await take(chunk);
  filler.finish();
}

/** Copies a body into pieces: its chunks are of any size, and their buffers not at pages. */
class Filler {
  readonly #incoming: IncomingBody;
  readonly #digests: DigestsInProgress;
  readonly #seat: Seat;
  readonly #queue: PieceQueue;
  #total = 0;
  #piece: Buffer | undefined;
  #filled = 0;

  constructor(incoming: IncomingBody, digests: DigestsInProgress, seat: Seat, queue: PieceQueue) {
    this.#incoming = incoming;
    this.#digests = digests;
    this.#seat = seat;
    this.#queue = queue;
  }

  /** Throws `IncompleteBody`, and what the store failed with. */
  take(chunk: Buffer): Promise<void> | undefined {
    this.#queue.throwIfClosed();
    this.#total += chunk.length;
    checkLength(this.#incoming.size, this.#total);
    this.#digests.update(chunk);
    bodyBytesPassed(chunk.length);
    return this.#copy(chunk, 0);
  }

  /** After the last chunk. Throws `IncompleteBody`. */
  finish(): void {
    checkLength(this.#incoming.size, this.#total, 'whole');
    if (this.#filled > 0) this.#hand();
  }

  #copy(chunk: Buffer, from: number): Promise<void> | undefined {
    for (let at = from; at < chunk.length;) {
      this.#piece ??= this.#seat.empty();
      if (this.#piece === undefined) return this.#copyLater(chunk, at);
      const copied = chunk.copy(this.#piece, this.#filled, at);
      at += copied;
      this.#filled += copied;
      if (this.#filled === this.#piece.length) this.#hand();
    }
    return undefined;
  }

  async #copyLater(chunk: Buffer, at: number): Promise<void> {
    await this.#seat.emptied();
    await this.#copy(chunk, at);
  }

  #hand(): void {
    this.#queue.push(this.#seat.hand(this.#filled));
    this.#piece = undefined;
    this.#filled = 0;
  }
}
