import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer } from './contract/request.ts';
import { discardSmallBody, finishUnread, hasUnreadBody } from './message-body.ts';
import type { Chunks } from '../streams/chunks.ts';
import { once } from 'node:events';
import { hostId } from './contract/error-answer.ts';

/** Milliseconds until a slow answer sends its status, and between the spaces that keep the connection alive. */
const slowAnswerIntervalMs = 10_000;

/**
 * The largest body in bytes that is joined with its head in one string. Node writes a short string from the stack, and head and buffer as a
 * list of two: this saved 6 µs of 58 µs for an answer of 4 KiB.
 */
const maxJoinedBytes = 12 * 1024;

/** Names in lower case and values alternate, as `writeHead` accepts them without creating an object. Node does not keep them. */
type Headers = string[];
const noBytes = Buffer.alloc(0);

/** The parts that every answer has. */
interface Envelope {
  readonly requestId: string;
  /** Absent without metrics. */
  readonly measure?: FirstByteListener | undefined;
  /** Further headers, for a page on another origin. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Set to the headers of the answer, without those that Node adds. */
  head?: Headers | undefined;
}

/** Gets a call when an answer begins. */
interface FirstByteListener {
  firstByte(): void;
}

/**
 * Writes an answer. It resolves when the connection has taken the answer or is closed.
 *
 * It rejects when the body fails. The caller can still send an error if nothing was written (`response.headersSent`); a later failure has
 * closed the connection.
 */
export async function sendAnswer(
  message: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  envelope: Envelope,
): Promise<void> {
  const { status, body } = answer;
  const { measure } = envelope;
  // These bodies are complete and leave in this turn of the event loop.
  if (body.kind === 'empty' || body.kind === 'bytes' || message.method === 'HEAD') measure?.firstByte();
  if (message.method === 'HEAD' || status === 204 || status === 304) {
    if (body.kind === 'chunks' || body.kind === 'stream') await body.chunks.close();
    return sendBytes(message, response, status, headOf(answer, lengthOfUnsent(answer), envelope), noBytes);
  }
  switch (body.kind) {
    case 'empty':
      return sendBytes(message, response, status, headOf(answer, 0, envelope), noBytes);
    case 'bytes':
      return sendBytes(message, response, status, headOf(answer, body.bytes.length, envelope), body.bytes);
    case 'chunks':
      return sendChunks(response, body, () => {
        measure?.firstByte();
        response.writeHead(status, headOf(answer, body.size, envelope));
      });
    case 'stream':
      return sendChunks(response, body, () => {
        measure?.firstByte();
        response.writeHead(status, headOf(answer, undefined, envelope));
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

function headOf({ headers }: Answer, length: number | undefined, envelope: Envelope): Headers {
  const { requestId, headers: further } = envelope;
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
  if (further !== undefined) {
    for (const name of Object.keys(further)) if (headers[name] === undefined) head.push(name, further[name] ?? '');
  }
  envelope.head = head;
  return head;
}

/** Returns the content length of an answer without its body; undefined if the headers have it, or there is none. */
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
  discardSmallBody(message);
  response.writeHead(status, head);
  if (bytes.length === 0) response.end();
  else if (bytes.length <= maxJoinedBytes) response.end(bytes.toString('latin1'), 'latin1');
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
    timer = setInterval(tick, slowAnswerIntervalMs);
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
 * Resolves when all is handed to the system or the connection is gone. Without a `size` the body ends with its pieces.
 *
 * The head goes out with the first bytes: pieces that fail before have an answer of their own. Those that fail after, or end early, cut
 * the connection. Rejects with what they failed with.
 */
export async function sendChunks(
  response: ServerResponse,
  { chunks, size = Infinity }: { readonly chunks: Chunks; readonly size?: number },
  writeHead: () => void,
): Promise<void> {
  const writer = new ChunkWriter(response);
  let sent = 0;
  try {
    while (sent < size) {
      const chunk = await chunks.next();
      if (writer.gone) return;
      if (chunk === undefined) {
        if (size !== Infinity) throw new Error(`the body ended after ${sent} of ${size} bytes`);
        if (sent === 0) writeHead();
        response.end();
        return;
      }
      if (sent === 0) writeHead();
      sent += chunk.length;
      if (sent > size) throw new Error(`the body has more than the ${size} bytes that were announced`);
      await writer.write(chunk, sent === size);
    }
  } catch (error) {
    if (response.headersSent) response.destroy();
    throw error;
  } finally {
    await chunks.close();
  }
}

/** Writes one piece at a time. */
class ChunkWriter {
  readonly #response: ServerResponse;
  #done: () => void = () => undefined;
  #gone = false;

  constructor(response: ServerResponse) {
    this.#response = response;
    // Node drops what is written to a connection that is gone, and calls no callback.
    response.once('close', () => {
      this.#gone = true;
      this.#done();
    });
  }

  get gone(): boolean {
    return this.#gone || this.#response.destroyed;
  }

  /** Resolves when the system has taken the bytes or never will. */
  write(chunk: Buffer, last: boolean): Promise<void> {
    if (this.gone) return Promise.resolve();
    return new Promise((resolve) => {
      this.#done = resolve;
      const done = () => resolve();
      if (last) this.#response.end(chunk, done);
      else this.#response.write(chunk, done);
    });
  }
}

/** Milliseconds between the spaces that are sent while there is no data. Proxies close connections that are silent for longer. */
const keepAliveMs = 5_000;

/**
 * Sends lines as they come, at the pace of the client, until the client leaves or there are no more. A client that closes its sending half has
 * left: it could not end the answer otherwise. It asks for the next chunk when the system has taken the last one, so at most one chunk waits. It
 * rejects with the failure of the source, after it has closed the connection.
 */
export async function sendEndless(
  response: ServerResponse,
  { chunks }: { readonly chunks: (signal: AbortSignal) => AsyncIterable<Buffer> },
  everyMs = keepAliveMs,
): Promise<void> {
  const gone = new AbortController();
  const leave = () => gone.abort();
  response.once('close', leave);
  response.socket?.once('end', leave);
  if (response.destroyed || response.socket?.readableEnded === true) leave();
  response.flushHeaders();
  const beat = setInterval(() => {
    if (!response.writableNeedDrain) response.write(' ');
  }, everyMs);
  try {
    for await (const chunk of chunks(gone.signal)) {
      if (gone.signal.aborted) break;
      if (!response.write(chunk)) await drained(response, gone.signal);
    }
    response.end();
  } catch (error) {
    response.destroy();
    throw error;
  } finally {
    clearInterval(beat);
    response.off('close', leave);
    response.socket?.off('end', leave);
  }
}

async function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  try {
    await once(response, 'drain', { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
