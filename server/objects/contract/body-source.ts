import { type BodySender, bodyBytesPassed } from '../../streams/body-memory.ts';

/**
 * A body on its way in: decoded (without aws-chunked framing) and verified against the signature. It is read at most once.
 *
 * @example
 *     await body.pipe((chunk) => {
 *       size += chunk.length;
 *       return undefined;
 *     });
 */
export interface BodySource {
  /**
   * Calls `take` with each chunk in order, and waits for its promise before the next. Rejects with the error of `take`, and where the
   * body fails or its client goes away, but never before the last promise of `take` has settled.
   */
  pipe(take: TakeChunk): Promise<void>;
  /**
   * Counts bytes that stay in memory until the request is answered.
   *
   * @throws S3Error `SlowDown` where the server has too many already
   */
  hold?(bytes: number, sender: BodySender): void;
  /**
   * Takes back a chunk that the taker has copied, and frees its memory at once. Absent where chunks may share memory: then the garbage
   * collector frees it.
   */
  giveBack?(chunk: Buffer): void;
  /** Reports if the client closed the connection. Long work stops then; absent where no client waits. */
  senderGone?(): boolean;
}

/** Takes a chunk, which belongs to the taker from then on. Returns undefined where the next chunk may come at once. */
export type TakeChunk = (chunk: Buffer) => Promise<void> | undefined;

/** Releases a chunk that is not needed any more. */
export function giveBackTo(source: BodySource, chunk: Buffer): undefined {
  if (source.giveBack === undefined) bodyBytesPassed(chunk.length);
  else source.giveBack(chunk);
}

/** A source of chunks that something else makes. */
export function bodyFrom(chunks: AsyncIterable<Buffer>): BodySource {
  return {
    async pipe(take) {
      for await (const chunk of chunks) await take(chunk);
    },
  };
}

/** The chunks of a body for a consumer that asks for each. A consumer that stops early leaves the rest unread. */
export async function* chunksOf(body: BodySource): AsyncGenerator<Buffer> {
  let chunk: Buffer | undefined;
  let stopped: Error | undefined;
  let taken: PromiseWithResolvers<void> | undefined;
  let arrived = Promise.withResolvers<void>();
  const piped = body
    .pipe((next) => {
      if (stopped !== undefined) throw stopped;
      chunk = next;
      taken = Promise.withResolvers();
      arrived.resolve();
      return taken.promise;
    })
    .finally(() => arrived.resolve());
  piped.catch(() => undefined);
  try {
    for (;;) {
      await arrived.promise;
      if (chunk === undefined) return await piped;
      const given = chunk;
      chunk = undefined;
      arrived = Promise.withResolvers();
      yield given;
      taken?.resolve();
    }
  } finally {
    stopped = new Error('the rest of the body is not read');
    taken?.reject(stopped);
  }
}
