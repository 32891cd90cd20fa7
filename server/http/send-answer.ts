import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { Answer } from '../access/answer.ts';
import { finishUnread, hasUnreadBody } from './unread-body.ts';

/** Milliseconds until a slow answer sends its status, and between the spaces that keep the connection alive. */
const patience = 10_000;

type Headers = Record<string, string>;
const noBytes = Buffer.alloc(0);

/** Told when an answer begins to go out. */
export interface FirstByteListener {
  firstByte(): void;
}

/**
 * Writes an answer; resolves when it is handed to the connection or the connection is gone.
 *
 * Rejects only where nothing has been written yet, so that the caller can still answer the failure.
 */
export async function sendAnswer(
  message: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  measure?: FirstByteListener,
): Promise<void> {
  const { body } = answer;
  const headers = { ...answer.headers };
  // What is there goes out in this turn.
  if (body.kind === 'empty' || body.kind === 'bytes' || message.method === 'HEAD') measure?.firstByte();
  if (message.method === 'HEAD' || answer.status === 204 || answer.status === 304) {
    if (body.kind === 'stream') body.stream.destroy();
    if (body.kind === 'bytes') headers['content-length'] ??= String(body.bytes.length);
    if (answer.status === 200 || answer.status >= 400) headers['content-length'] ??= '0';
    return sendBytes(message, response, answer.status, headers, noBytes);
  }
  switch (body.kind) {
    case 'empty':
      headers['content-length'] = '0';
      return sendBytes(message, response, answer.status, headers, noBytes);
    case 'bytes':
      headers['content-length'] = String(body.bytes.length);
      return sendBytes(message, response, answer.status, headers, body.bytes);
    case 'stream':
      headers['content-length'] = String(body.size);
      return sendStream(response, body, () => {
        measure?.firstByte();
        response.writeHead(answer.status, headers);
      });
    case 'slow':
      return sendSlowly(message, response, answer, body, measure);
    default:
      return body satisfies never;
  }
}

async function sendBytes(
  message: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: Headers,
  bytes: Buffer,
): Promise<void> {
  if (hasUnreadBody(message)) {
    headers['connection'] = 'close';
    response.writeHead(status, headers);
    return finishUnread(message, response, bytes);
  }
  response.writeHead(status, headers);
  response.end(bytes);
}

/**
 * Streams with the pace of the reader. The head goes out with the first bytes: a stream that fails before has an answer of its own,
 * one that fails after, or ends early, cuts the connection.
 */
function sendStream(
  response: ServerResponse,
  { stream, size }: { readonly stream: Readable; readonly size: number },
  writeHead: () => void,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let sent = 0;
  const fail = (error: Error) => {
    stream.destroy();
    if (!response.headersSent && !response.destroyed) return reject(error);
    response.destroy(error);
    // The failure itself, not what the cut connection makes of it.
    return reject(error);
  };
  stream.on('data', (piece: Buffer) => {
    if (sent === 0) writeHead();
    sent += piece.length;
    if (sent > size) fail(new Error(`the stream has more than the ${size} bytes that were announced`));
    else if (!response.write(piece)) stream.pause();
  });
  stream.on('end', () => {
    if (sent < size) fail(new Error(`the stream ended after ${sent} of ${size} bytes`));
    else response.end();
  });
  stream.on('error', fail);
  response.on('drain', () => stream.resume());
  response.on('close', () => {
    stream.destroy();
    resolve();
  });
  return promise;
}

async function sendSlowly(
  message: IncomingMessage,
  response: ServerResponse,
  { status, headers }: Answer,
  { early, result }: { readonly early: Buffer; readonly result: Promise<Answer> },
  measure: FirstByteListener | undefined,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tick = () => {
    if (response.headersSent) response.write(' ');
    else {
      measure?.firstByte();
      response.writeHead(status, headers);
      response.write(early);
    }
  };
  try {
    timer = setInterval(tick, patience);
    const answer = await result;
    clearInterval(timer);
    if (!response.headersSent) return await sendAnswer(message, response, answer, measure);
    const bytes = answer.body.kind === 'bytes' ? answer.body.bytes : noBytes;
    response.end(bytes.subarray(0, early.length).equals(early) ? bytes.subarray(early.length) : bytes);
  } finally {
    clearInterval(timer);
  }
}
