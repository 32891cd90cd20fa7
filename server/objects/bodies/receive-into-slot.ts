import type { Piece } from '../../store/blob-store.ts';
import type { Seat } from '../hashing/buffer-slots.ts';
import { bodyBytesPassed } from '../../../platform/body-buffers.ts';
import type { PackageEncryptor } from '../../encryption/package-encryptor.ts';
import { DigestsInProgress } from '../checksums/body-digests.ts';
import { Gmac } from '../checksums/block-sums.ts';
import { checkLength, type IncomingBody, type ReceivedBody, protectionOf } from './incoming-body.ts';
import { discardBlob, newBlobId } from '../operations/claim-blob.ts';
import type { Environment } from '../context.ts';
import type { BodySource } from '../object-layer.ts';

/** Chunks between the receiver, which pushes them, and the store, which takes them. The buffers of the slot bound its length. */
class PieceQueue implements AsyncIterableIterator<Piece, undefined> {
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

  /** The caller calls this when the store has settled: the store takes no more chunks. */
  close(): void {
    this.#closed = true;
    for (const piece of this.#pieces.splice(0)) piece.release();
  }

  /** Throws after the store has failed. The error of the store says why. */
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

/**
 * Copies bytes into the buffers of a slot, and submits buffers that are full. Incoming chunks have any size, and do not begin at a
 * page.
 */
class PieceFiller {
  readonly #seat: Seat;
  readonly #queue: PieceQueue;
  readonly #filled: (bytes: Buffer) => void;
  #piece: Buffer | undefined;
  #used = 0;

  /** @param filled is called with the bytes of each buffer that is submitted */
  constructor(seat: Seat, queue: PieceQueue, filled: (bytes: Buffer) => void = () => undefined) {
    this.#seat = seat;
    this.#queue = queue;
    this.#filled = filled;
  }

  /** Returns undefined where all bytes were copied; otherwise the bytes must not change until the promise resolves. */
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

  /** Copies parts, each before the next one is asked for. */
  copyEach(parts: Iterator<Buffer>): Promise<void> | undefined {
    for (let part = parts.next(); part.done !== true; part = parts.next()) {
      const waiting = this.copy(part.value);
      if (waiting !== undefined) return waiting.then(() => this.copyEach(parts));
    }
    return undefined;
  }

  /** Submits the last buffer. The caller calls this after the last byte. */
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

/** The encryption of a body on its way into the buffers. */
interface Sealing {
  readonly salt: Buffer;
  readonly encryptor: PackageEncryptor;
}

/**
 * Receives a body that becomes a blob. The hashing thread computes the MD5 of a plain body from the bytes as they are written. An
 * encrypted body, with `sealing`, uses an unhashed slot: the store writes ciphertext, and the digests are of the plaintext.
 */
export async function receiveAtSeat(
  environment: Environment,
  incoming: IncomingBody,
  seat: Seat,
  sealing?: Sealing,
): Promise<ReceivedBody> {
  const { blobs, clock, random } = environment;
  const digests = new DigestsInProgress(incoming.digests, wanted(incoming, sealing));
  const blob = newBlobId(clock(), random);
  const mac = sealing && new Gmac();
  let md5: Promise<Buffer> | undefined;
  const queue = new PieceQueue();
  const filler = new PieceFiller(seat, queue, (bytes) => {
    mac?.update(bytes);
  });
  const poured = (async () => {
    try {
      await pourInto(incoming, { digests, queue, filler, encryptor: sealing?.encryptor });
      // The store writes and flushes meanwhile.
      if (sealing === undefined) md5 = seat.digest();
      queue.end();
    } catch (error) {
      queue.fail(error);
    }
  })();
  try {
    await blobs.writePieces?.(blob, queue);
    try {
      const result = digests.finish(await md5);
      const sealed = sealing && mac && { salt: sealing.salt, mac: mac.digest() };
      const { protection, ...sums } = protectionOf(result, sealed, incoming.sumsApart);
      return { digests: result, protection, stored: { kind: 'blob', blob, ...sums } };
    } catch (error) {
      await discardBlob(environment, blob);
      throw error;
    }
  } finally {
    queue.close();
    // After a failure of the store, a chunk may still be on its way into a buffer.
    void poured.then(() => seat.leave());
  }
}

function wanted({ md5 }: IncomingBody, sealing: Sealing | undefined) {
  return sealing === undefined ? ({ md5: 'elsewhere', sum: true } as const) : { md5, sum: false };
}

interface Pouring {
  readonly digests: DigestsInProgress;
  readonly queue: PieceQueue;
  readonly filler: PieceFiller;
  readonly encryptor: PackageEncryptor | undefined;
}

/** Throws `IncompleteBody`, the errors of the body, and the error of the store. */
async function pourInto(incoming: IncomingBody, { digests, queue, filler, encryptor }: Pouring): Promise<void> {
  let total = 0;
  const take = (chunk: Buffer) => {
    queue.throwIfClosed();
    total += chunk.length;
    checkLength(incoming.size, total);
    digests.update(chunk);
    bodyBytesPassed(chunk.length);
    return encryptor === undefined ? filler.copy(chunk) : filler.copyEach(encryptor.update(chunk));
  };
  await eachChunk(incoming.body, take);
  checkLength(incoming.size, total, 'whole');
  if (encryptor !== undefined) await filler.copyEach(encryptor.final());
  filler.finish();
}

async function eachChunk(body: BodySource, take: (chunk: Buffer) => Promise<void> | undefined): Promise<void> {
  if (body.pour !== undefined) await body.pour(take);
  else for await (const chunk of body) await take(chunk);
}
