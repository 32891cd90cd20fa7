import type { EventSource } from '../calls/event-logs.ts';
import type { ServerResponse } from 'node:http';
import type { Logger } from '../../platform/logger.ts';
import { refuse, type Refused } from '../calls/refused.ts';
import type { Answer } from '../calls/call.ts';

/** Streams at once, which bounds what they can hold together. */
const maxStreams = 64;

/** Bytes that may wait for a reader. One that falls behind further loses its connection, so that it knows that it missed something. */
const maxWaitingBytes = 1024 * 1024;

const keepAliveMs = 30_000;

/** The open streams of events, one JSON line each. */
export class EventStreams {
  readonly #open = new Set<ServerResponse>();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  get count(): number {
    return this.#open.size;
  }

  /** Begins a stream, which goes on until the reader leaves, falls behind or the service stops. Errors with a `Refused`. */
  begin(response: ServerResponse, source: EventSource): void {
    if (this.#open.size >= maxStreams) throw refuse('tooManyStreams');
    const send = (event: object) => {
      if (response.writableLength > maxWaitingBytes) {
        this.#log.warn({ ip: response.socket?.remoteAddress }, 'a reader of a log stream is too slow: disconnected');
        response.destroy();
        return;
      }
      response.write(`${JSON.stringify(event)}\n`);
    };
    this.#open.add(response);
    source.on('event', send);
    response.once('close', () => {
      source.off('event', send);
      this.#open.delete(response);
    });
    // A reader whose machine went away is noticed although nothing is sent.
    response.socket?.setKeepAlive(true, keepAliveMs);
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    response.flushHeaders();
  }

  /** Ends every stream, so that a stop need not wait for readers. */
  end(): void {
    for (const response of this.#open) response.end();
  }
}

/** Sends what a call came to, with status 200. Errors with a `Refused` where there are too many streams. */
export function sendAnswer(response: ServerResponse, answer: Answer, streams: EventStreams): void {
  switch (answer.kind) {
    case 'empty':
      response.writeHead(200, { 'content-length': 0 }).end();
      return;
    case 'json':
      return sendText(response, 200, 'application/json', JSON.stringify(answer.body));
    case 'lines':
      return sendText(response, 200, 'application/x-ndjson', answer.text);
    case 'text':
      return sendText(response, 200, answer.contentType, answer.text);
    case 'events':
      return streams.begin(response, answer.source);
  }
}

/** The protocol's form of an error. */
export function sendRefusal(response: ServerResponse, refused: Refused): void {
  for (const [name, value] of Object.entries(refused.headers)) response.setHeader(name, value);
  response.setHeader('x-content-type-options', 'nosniff');
  sendText(response, refused.status, 'application/json', JSON.stringify({ message: refused.message }));
}

function sendText(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) }).end(text);
}
