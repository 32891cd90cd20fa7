import type { IncomingMessage, ServerResponse } from 'node:http';
import type { IncomingRequest } from '../access/incoming-request.ts';

type Body = IncomingRequest['body'];

/**
 * The body of a message. Reading it tells a client that waits with `Expect: 100-continue` to go on; leaving it unread is fine.
 */
export class MessageBody implements Body {
  readonly #message: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #awaitsContinue: boolean;

  /** @param awaitsContinue the client holds its body back until it is told to send it */
  constructor(message: IncomingMessage, response: ServerResponse, awaitsContinue: boolean) {
    this.#message = message;
    this.#response = response;
    this.#awaitsContinue = awaitsContinue;
  }

  [Symbol.asyncIterator](): AsyncIterator<Buffer> {
    this.#begin();
    if (this.#message.readableEnded) return nothing();
    // Who stops reading must still be able to answer: destroying the message would cut the connection.
    return this.#message.iterator({ destroyOnReturn: false });
  }

  /** For bodies whose length the head declares: Node's parser lets no more through. Rejects when the connection ends before. */
  whole(): Promise<Buffer> {
    this.#begin();
    if (this.#message.readableEnded) return Promise.resolve(Buffer.alloc(0));
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const pieces: Buffer[] = [];
    const message = this.#message;
    message.on('data', (piece: Buffer) => {
      pieces.push(piece);
    });
    message.on('end', () =>
      resolve(pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces)),
    );
    message.on('error', reject);
    message.on('close', () => reject(new Error('the connection ended before the body')));
    return promise;
  }

  /** The rest is left unread when `take` fails. */
  pour(take: (piece: Buffer) => Promise<void> | undefined): Promise<void> {
    this.#begin();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const message = this.#message;
    const onData = (piece: Buffer) => {
      try {
        const taken = take(piece);
        if (taken === undefined) return;
        message.pause();
        taken.then(() => message.resume(), stop);
      } catch (error) {
        stop(error);
      }
    };
    const stop = (error: unknown) => {
      message.off('data', onData);
      message.pause();
      reject(error);
    };
    message.on('data', onData);
    message.on('end', resolve);
    message.on('error', reject);
    message.on('close', () => reject(new Error('the connection ended before the body')));
    return promise;
  }

  #begin(): void {
    if (this.#awaitsContinue && !this.#response.headersSent) this.#response.writeContinue();
  }
}

/** A request that announces no body is no stream that could be read. */
async function* nothing(): AsyncGenerator<Buffer> {
  // oxlint-disable-next-line no-empty-function -- an iteration that ends at once
}
