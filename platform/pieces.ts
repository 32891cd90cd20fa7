import { Readable } from 'node:stream';
import { bodyBytesPassed } from './body-memory.ts';

/**
 * How long a piece of a body may be used: a lent one until the next is asked for or the pieces are closed, for its buffer is then filled
 * again; one's own for as long as one likes.
 */
export type Tenure = 'lent' | 'own';

/**
 * The bytes of a body, in pieces that are asked for one after the other. No `AsyncIterable<Buffer>`, so that code that keeps chunks does
 * not take borrowed ones by mistake: `Pieces` alone are to be treated as lent, `Pieces<'own'>` may be kept.
 *
 * `close` must be called once nothing is wanted any more, also after a failure and at the end; it is called after what `next` promised
 * has settled, and may be called twice.
 */
export interface Pieces<T extends Tenure = Tenure> {
  readonly tenure: T;
  /** Undefined at the end. Nothing is opened before the first call. */
  next(): Promise<Buffer | undefined>;
  /** Gives back what was lent and opened. */
  close(): Promise<void>;
}

/** The pieces of what makes a new buffer for each. */
export function ownPieces(source: AsyncIterable<Buffer>): Pieces<'own'> {
  let iterator: AsyncIterator<Buffer> | undefined;
  return {
    tenure: 'own',
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

/** To be used only by who has done with a piece before it goes on to the next. Closes the pieces when the iteration ends. */
export async function* eachPiece(chunks: Pieces): AsyncGenerator<Buffer> {
  try {
    for (let chunk = await chunks.next(); chunk !== undefined; chunk = await chunks.next()) yield chunk;
  } finally {
    await chunks.close();
  }
}

/** The pieces of a body for a consumer that keeps them: lent ones are copied. Closes the pieces when the iteration ends. */
export async function* keptPieces(chunks: Buffer | Pieces): AsyncGenerator<Buffer> {
  if (Buffer.isBuffer(chunks)) return yield chunks;
  for await (const chunk of eachPiece(chunks)) yield chunks.tenure === 'own' ? chunk : copyOf(chunk);
}

function copyOf(chunk: Buffer): Buffer {
  bodyBytesPassed(chunk.length);
  return Buffer.from(chunk);
}

/** A stream. It keeps pieces until they are read. */
export function readable(chunks: Buffer | Pieces): Readable {
  return Readable.from(keptPieces(chunks), { objectMode: false });
}

/** The pieces of several bodies, one body after the other; each is opened when the one before has ended and was closed. */
export class JoinedChunks<T extends Tenure> implements Pieces<T> {
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
