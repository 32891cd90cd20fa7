import type { ServerResponse } from 'node:http';
import type { Pieces } from '../../platform/pieces.ts';

/**
 * Sends a body with the pace of the client, whom a piece has left before the next is asked for: its buffer may then be filled again.
 * Resolves when all is handed to the system or the connection is gone.
 *
 * The head goes out with the first bytes: pieces that fail before have an answer of their own. Those that fail after, or end early, cut
 * the connection. Rejects with what they failed with.
 */
export async function sendPieces(
  response: ServerResponse,
  { pieces, size }: { readonly pieces: Pieces; readonly size: number },
  writeHead: () => void,
): Promise<void> {
  const writer = new PieceWriter(response);
  let sent = 0;
  try {
    while (sent < size) {
      const piece = await pieces.next();
      if (writer.gone) return;
      if (piece === undefined) throw new Error(`the body ended after ${sent} of ${size} bytes`);
      if (sent === 0) writeHead();
      sent += piece.length;
      if (sent > size) throw new Error(`the body has more than the ${size} bytes that were announced`);
      await writer.write(piece, sent === size);
    }
  } catch (error) {
    if (response.headersSent) response.destroy();
    throw error;
  } finally {
    await pieces.close();
  }
}

/** Writes one piece at a time. */
class PieceWriter {
  readonly #response: ServerResponse;
  #done: () => void = () => undefined;
  #gone = false;

  constructor(response: ServerResponse) {
    this.#response = response;
    // Node drops what is written to a connection that is gone, and calls nobody back.
    response.once('close', () => {
      this.#gone = true;
      this.#done();
    });
  }

  get gone(): boolean {
    return this.#gone || this.#response.destroyed;
  }

  /** Resolves when the system has taken the bytes or never will. */
  write(piece: Buffer, last: boolean): Promise<void> {
    if (this.gone) return Promise.resolve();
    return new Promise((resolve) => {
      this.#done = resolve;
      const done = () => resolve();
      if (last) this.#response.end(piece, done);
      else this.#response.write(piece, done);
    });
  }
}
