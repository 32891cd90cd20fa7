import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer } from '../access/answer.ts';
import { hostId } from '../s3/error-answer.ts';
import { sendEndless } from './send-endless.ts';
import { sendPieces } from './send-pieces.ts';
import { finishUnread, hasUnreadBody } from './unread-body.ts';

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
export interface Envelope {
  readonly requestId: string;
  /** Absent where nothing is measured. */
  readonly measure?: FirstByteListener | undefined;
}

/** Told when an answer begins to go out. */
export interface FirstByteListener {
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
