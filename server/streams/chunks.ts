import { Readable } from 'node:stream';
import { bodyBytesPassed } from './body-memory.ts';

/**
 * The owner of a chunk. A consumer may use a `lent` chunk until it asks for the next one or closes the chunks, since the buffer is then
 * filled again. It may keep its `own` chunk.
 */
export type Ownership = 'lent' | 'own';

/**
 * The bytes of a body, in chunks that a consumer asks for one after the other. This is not `AsyncIterable<Buffer>`, so that code that keeps
 * chunks does not take lent ones by mistake: it must treat `Chunks` as lent, and may keep those of `Chunks<'own'>`.
 *
 * The consumer calls `close` when it wants no more chunks, also after a failure and at the end. It first waits for the promise of `next`.
 * It may call `close` twice.
 */
export interface Chunks<T extends Ownership = Ownership> {
  readonly ownership: T;
  /** Undefined at the end. Nothing is opened before the first call. */
  next(): Promise<Buffer | undefined>;
  /** Returns the lent chunk, and closes what was opened. */
  close(): Promise<void>;
}

/** Returns the chunks of a source that makes a new buffer for each. */
export function ownChunks(source: AsyncIterable<Buffer>): Chunks<'own'> {
  let iterator: AsyncIterator<Buffer> | undefined;
  return {
    ownership: 'own',
    async next() {
      iterator ??= source[Symbol.asyncIterator]();
      const result = await iterator.next();
      return result.done === true ? undefined : result.value;
    },
    async close() {
      // Streams open what they read from before they are asked for it.
      if (iterator === undefined && source instanceof Readable) source.destroy();
      await iterator?.return?.();
    },
  };
}

/** Iterates over chunks for a consumer that keeps none of them. Closes the chunks when the iteration ends. */
export async function* eachChunk(chunks: Chunks): AsyncGenerator<Buffer> {
  try {
    for (let chunk = await chunks.next(); chunk !== undefined; chunk = await chunks.next()) yield chunk;
  } finally {
    await chunks.close();
  }
}

/** Iterates over chunks for a consumer that keeps them: lent ones are copied. Closes the chunks when the iteration ends. */
export async function* keptChunks(chunks: Buffer | Chunks): AsyncGenerator<Buffer> {
  if (Buffer.isBuffer(chunks)) return yield chunks;
  for await (const chunk of eachChunk(chunks)) yield chunks.ownership === 'own' ? chunk : copyOf(chunk);
}

function copyOf(chunk: Buffer): Buffer {
  bodyBytesPassed(chunk.length);
  return Buffer.from(chunk);
}

/** Returns a stream. It keeps chunks until they are read. */
export function readable(chunks: Buffer | Chunks): Readable {
  return Readable.from(keptChunks(chunks), { objectMode: false });
}

/** The chunks of several bodies, one body after the other. Each is opened when the one before has ended and was closed. */
export class JoinedChunks<T extends Ownership> implements Chunks<T> {
  readonly ownership: T;
  readonly #bodies: Iterator<Chunks<T>>;
  #current: Chunks<T> | undefined;
  #ended = false;

  constructor(ownership: T, bodies: Iterable<Chunks<T>>) {
    this.ownership = ownership;
    this.#bodies = bodies[Symbol.iterator]();
  }

  async next(): Promise<Buffer | undefined> {
    while (!this.#ended) {
      const current = (this.#current ??= this.#open());
      const chunk = await current?.next();
      if (chunk !== undefined) return chunk;
      await this.#closeCurrent();
    }
    return undefined;
  }

  close(): Promise<void> {
    this.#ended = true;
    return this.#closeCurrent();
  }

  #open(): Chunks<T> | undefined {
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
