import type { Pieces } from '../../platform/pieces.ts';
import type { IncomingRequest } from './incoming-request.ts';

/** What the S3, STS and admin rooms answer with; `http` writes it, and adds request ids, `Date` and `Server`. */
export interface Answer {
  readonly status: number;
  /** Names in lower case. `content-length` comes from the body, unless an answer to HEAD names it. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AnswerBody;
}

export type AnswerBody =
  | { readonly kind: 'empty' }
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  /** Exactly `size` bytes; when a piece fails the connection is cut, so that nobody takes a part for the whole. */
  | { readonly kind: 'pieces'; readonly size: number; readonly pieces: Pieces }
  /**
   * Text that may take minutes: if it is not there after some seconds, status and headers go out and spaces keep the connection
   * alive. `result` never rejects: an error is text of the answer then. `early` is put before the first space.
   */
  | { readonly kind: 'slow'; readonly early: Buffer; readonly result: Promise<Answer> }
  /**
   * Lines without an end, each piece whole ones, until the client goes: `signal` says so. Status and headers go out at once; spaces
   * between lines keep the connection alive.
   */
  | { readonly kind: 'endless'; readonly pieces: (signal: AbortSignal) => AsyncIterable<Buffer> };

/** A room's one entry. A rejection with an `S3Error` becomes the XML answer (JSON below `/minio/`); any other is a 500. */
export type RequestHandler = (request: IncomingRequest) => Promise<Answer>;
