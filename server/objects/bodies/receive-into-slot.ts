import type { BufferSlot, SlotChunk } from '../hashing/buffer-slots.ts';
import { giveBackTo } from '../contract/body-source.ts';
import type { PackageEncryptor } from '../../encryption/package-encryptor.ts';
import { BodyHasher } from '../checksums/body-digests.ts';
import { Gmac } from '../checksums/block-sums.ts';
import { checkLength, type IncomingBody, type ReceivedBody, protectionOf } from './incoming-body.ts';
import { storeBlob } from './store-blob.ts';
import type { ObjectContext } from '../context/context.ts';
import { discardBlob } from '../records/blob-claims.ts';

/** Chunks between the receiver, which pushes them, and the store, which takes them. The buffers of the slot bound its length. */
class ChunkQueue implements AsyncIterableIterator<Buffer, undefined> {
  readonly #chunks: SlotChunk[] = [];
  /** The chunks that the store has taken and not released. */
  readonly #taken = new Map<Buffer, SlotChunk>();
  #end: { readonly failed: boolean; readonly error?: unknown } | undefined;
  #closed = false;
  #wake: (() => void) | undefined;

  push(chunk: SlotChunk): void {
    if (this.#closed) return chunk.release();
    this.#chunks.push(chunk);
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
    for (const chunk of this.#chunks.splice(0)) chunk.release();
  }

  /** Throws after the store has failed. The error of the store says why. */
  throwIfClosed(): void {
    if (this.#closed) throw new Error('the store takes no more of this body');
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Called by the store when it no longer uses a chunk. */
  release(bytes: Buffer): void {
    this.#taken.get(bytes)?.release();
    this.#taken.delete(bytes);
  }

  async next(): Promise<IteratorResult<Buffer, undefined>> {
    for (;;) {
      if (this.#end?.failed === true) throw this.#end.error;
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) {
        this.#taken.set(chunk.bytes, chunk);
        return { done: false, value: chunk.bytes };
      }
      if (this.#end !== undefined) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  return(): Promise<IteratorResult<Buffer, undefined>> {
    this.close();
    return Promise.resolve({ done: true, value: undefined });
  }
}

/**
 * Copies bytes into the buffers of a slot, and submits buffers that are full. Incoming chunks have any size, and do not begin at a
 * page.
 */
class BufferFiller {
  readonly #slot: BufferSlot;
  readonly #queue: ChunkQueue;
  readonly #filled: (bytes: Buffer) => void;
  #buffer: Buffer | undefined;
  #used = 0;

  /** @param filled is called with the bytes of each buffer that is submitted */
  constructor(slot: BufferSlot, queue: ChunkQueue, filled: (bytes: Buffer) => void = () => undefined) {
    this.#slot = slot;
    this.#queue = queue;
    this.#filled = filled;
  }

  /** Returns undefined where all bytes were copied; otherwise the bytes must not change until the promise resolves. */
  copy(bytes: Buffer, from = 0): Promise<void> | undefined {
    for (let at = from; at < bytes.length;) {
      this.#buffer ??= this.#slot.nextBuffer();
      if (this.#buffer === undefined) return this.#copyLater(bytes, at);
      const copied = bytes.copy(this.#buffer, this.#used, at);
      at += copied;
      this.#used += copied;
      if (this.#used === this.#buffer.length) this.#submit(this.#buffer);
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
    if (this.#buffer !== undefined && this.#used > 0) this.#submit(this.#buffer);
  }

  async #copyLater(bytes: Buffer, at: number): Promise<void> {
    await this.#slot.bufferFree();
    await this.copy(bytes, at);
  }

  #submit(buffer: Buffer): void {
    this.#filled(buffer.subarray(0, this.#used));
    this.#queue.push(this.#slot.submit(this.#used));
    this.#buffer = undefined;
    this.#used = 0;
  }
}

/** The encryption of a body on its way into the buffers. */
interface BodyEncryption {
  readonly salt: Buffer;
  readonly encryptor: PackageEncryptor;
}

/**
 * Receives a body that becomes a blob. The hashing thread computes the MD5 of a plain body from the bytes as they are written. An
 * encrypted body, with `encryption`, uses an unhashed slot: the store writes ciphertext, and the digests are of the plaintext.
 */
export async function receiveIntoSlot(
  context: ObjectContext,
  incoming: IncomingBody,
  slot: BufferSlot,
  encryption?: BodyEncryption,
): Promise<ReceivedBody> {
  const digests = new BodyHasher(incoming.digests, wanted(incoming, encryption));
  const mac = encryption && new Gmac();
  let md5: Promise<Buffer> | undefined;
  const queue = new ChunkQueue();
  const filler = new BufferFiller(slot, queue, (bytes) => {
    mac?.update(bytes);
  });
  const received = (async () => {
    try {
      await receiveInto(incoming, { digests, queue, filler, encryptor: encryption?.encryptor });
      // The store writes and flushes meanwhile.
      if (encryption === undefined) md5 = slot.digest();
      queue.end();
    } catch (error) {
      queue.fail(error);
    }
  })();
  try {
    const blob = await storeBlob(context, queue, incoming, { pages: true, release: (bytes) => queue.release(bytes) });
    try {
      const result = digests.finish(await md5);
      const sealed = encryption && mac && { salt: encryption.salt, mac: mac.digest() };
      const { protection, ...sums } = protectionOf(result, sealed, incoming.sumsInRecord);
      return { size: incoming.size, digests: result, protection, stored: { kind: 'blob', blob, ...sums } };
    } catch (error) {
      await discardBlob(context, blob);
      throw error;
    }
  } finally {
    queue.close();
    // After a failure of the store, a chunk may still be on its way into a buffer.
    void received.then(() => {
      digests.close();
      return slot.leave();
    });
  }
}

function wanted({ md5 }: IncomingBody, encryption: BodyEncryption | undefined) {
  return encryption === undefined ? ({ md5: 'elsewhere', sum: true } as const) : { md5, sum: false };
}

interface Receiver {
  readonly digests: BodyHasher;
  readonly queue: ChunkQueue;
  readonly filler: BufferFiller;
  readonly encryptor: PackageEncryptor | undefined;
}

/** Throws `IncompleteBody`, the errors of the body, and the error of the store. */
async function receiveInto(incoming: IncomingBody, { digests, queue, filler, encryptor }: Receiver): Promise<void> {
  let total = 0;
  const take = (chunk: Buffer) => {
    queue.throwIfClosed();
    total += chunk.length;
    checkLength(incoming.size, total);
    digests.update(chunk);
    const waiting = encryptor === undefined ? filler.copy(chunk) : filler.copyEach(encryptor.update(chunk));
    if (waiting === undefined) return giveBack(chunk);
    return waiting.then(() => giveBack(chunk));
  };
  const giveBack = (chunk: Buffer) => {
    digests.release(chunk, () => giveBackTo(incoming.body, chunk));
    return undefined;
  };
  await incoming.body.pipe(take);
  checkLength(incoming.size, total, 'whole');
  if (encryptor !== undefined) await filler.copyEach(encryptor.final());
  filler.finish();
}
