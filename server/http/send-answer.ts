import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer } from './contract/request.ts';
import { hostId } from '../s3/answers.ts';
import { finishUnread, hasUnreadBody } from './message-body.ts';
import type { Pieces } from '../../platform/pieces.ts';
import { once } from 'node:events';

/** Milliseconds until a slow answer sends its status, and between the spaces that keep the connection alive. */
const patience = 10_000;

/**
 * Bytes up to which a body joins its head in one string. Node writes a short string from the stack, where head and buffer are a list
 * of two: of 58 µs for an answer of 4 KiB, this saved 6.
 */
const joined = 12 * 1024;

/** Names and values by turns, as `writeHead` takes them without making an object of them. */
type Headers = string[];
const noBytes = Buffer.alloc(0);

/** What every answer to a request carries. */
interface Envelope {
  readonly requestId: string;
  /** Absent where nothing is measured. */
  readonly measure?: FirstByteListener | undefined;
}

/** Told when an answer begins to go out. */
interface FirstByteListener {
  firstByte(): void;
}

/**
 * Writes an answer; resolves when it is handed to the connection or the connection is gone.
 *
 * Rejects where the body fails. The caller can still answer the failure where nothing was written (`response.headersSent`); a body that
 * failed later has cut the connection.
 */
export async function sendAnswer(
  message: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  envelope: Envelope,
): Promise<void> {
  const { status, body } = answer;
  const { measure } = envelope;
  // What is there goes out in this turn.
  if (body.kind === 'empty' || body.kind === 'bytes' || message.method === 'HEAD') measure?.firstByte();
  if (message.method === 'HEAD' || status === 204 || status === 304) {
    if (body.kind === 'pieces') await body.pieces.close();
    return sendBytes(message, response, status, headOf(answer, lengthOfUnsent(answer), envelope), noBytes);
  }
  switch (body.kind) {
    case 'empty':
      return sendBytes(message, response, status, headOf(answer, 0, envelope), noBytes);
    case 'bytes':
      return sendBytes(message, response, status, headOf(answer, body.bytes.length, envelope), body.bytes);
    case 'pieces':
      return sendPieces(response, body, () => {
        measure?.firstByte();
        response.writeHead(status, headOf(answer, body.size, envelope));
      });
    case 'slow':
      return sendSlowly(message, response, answer, body, envelope);
    case 'endless':
      measure?.firstByte();
      response.writeHead(status, headOf(answer, undefined, envelope));
      return sendEndless(response, body);
    default:
      return body satisfies never;
  }
}

function headOf({ headers }: Answer, length: number | undefined, { requestId }: Envelope): Headers {
  const head = [
    'server',
    'Coffer',
    'x-amz-request-id',
    requestId,
    'x-amz-id-2',
    hostId,
    'x-content-type-options',
    'nosniff',
  ];
  for (const name of Object.keys(headers)) {
    if (name !== 'content-length' || length === undefined) head.push(name, headers[name] ?? '');
  }
  if (length !== undefined) head.push('content-length', String(length));
  return head;
}

/** The length that an answer without its body tells; undefined where it says so itself, or has none. */
function lengthOfUnsent({ status, headers, body }: Answer): number | undefined {
  if (headers['content-length'] !== undefined) return undefined;
  if (body.kind === 'bytes') return body.bytes.length;
  return status === 200 || status >= 400 ? 0 : undefined;
}

async function sendBytes(
  message: IncomingMessage,
  response: ServerResponse,
  status: number,
  head: Headers,
  bytes: Buffer,
): Promise<void> {
  if (hasUnreadBody(message)) {
    head.push('connection', 'close');
    response.writeHead(status, head);
    return finishUnread(message, response, bytes);
  }
  response.writeHead(status, head);
  if (bytes.length === 0) response.end();
  else if (bytes.length <= joined) response.end(bytes.toString('latin1'), 'latin1');
  else response.end(bytes);
}

async function sendSlowly(
  message: IncomingMessage,
  response: ServerResponse,
  slow: Answer,
  { early, result }: { readonly early: Buffer; readonly result: Promise<Answer> },
  envelope: Envelope,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tick = () => {
    if (response.headersSent) response.write(' ');
    else {
      envelope.measure?.firstByte();
      response.writeHead(slow.status, headOf(slow, undefined, envelope));
      response.write(early);
    }
  };
  try {
    timer = setInterval(tick, patience);
    const answer = await result;
    clearInterval(timer);
    if (!response.headersSent) return await sendAnswer(message, response, answer, envelope);
    const bytes = answer.body.kind === 'bytes' ? answer.body.bytes : noBytes;
    response.end(bytes.subarray(0, early.length).equals(early) ? bytes.subarray(early.length) : bytes);
  } finally {
    clearInterval(timer);
  }
}

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

/** Milliseconds between spaces while nothing comes: proxies cut connections that are silent for longer. */
const beatMs = 5_000;

/**
 * Sends lines as they come, at the pace of the client, until it goes or there are no more. The next piece is asked for when the system
 * has taken the last: what waits in between is at most one piece. Rejects with what the pieces fail with, once the connection is cut.
 */
export async function sendEndless(
  response: ServerResponse,
  { pieces }: { readonly pieces: (signal: AbortSignal) => AsyncIterable<Buffer> },
  everyMs = beatMs,
): Promise<void> {
  const gone = new AbortController();
  const leave = () => gone.abort();
  response.once('close', leave);
  if (response.destroyed) leave();
  response.flushHeaders();
  const beat = setInterval(() => {
    if (!response.writableNeedDrain) response.write(' ');
  }, everyMs);
  try {
    for await (const piece of pieces(gone.signal)) {
      if (gone.signal.aborted) break;
      if (!response.write(piece)) await drained(response, gone.signal);
    }
    response.end();
  } catch (error) {
    response.destroy();
    throw error;
  } finally {
    clearInterval(beat);
    response.off('close', leave);
  }
}

async function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  try {
    await once(response, 'drain', { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
