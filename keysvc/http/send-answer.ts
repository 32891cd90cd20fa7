import type { EventSource } from '../calls/event-logs.ts';
import type { ServerResponse } from 'node:http';
import type { Logger } from '../../platform/output/logger.ts';
import { callError } from '../calls/call-error.ts';
import type { RequestError } from '../../protocol/request-error.ts';
import type { Answer } from '../calls/call.ts';

/** The maximum number of streams, which limits their memory. */
const maxStreams = 64;

/** The maximum of buffered bytes for one reader. A slower reader loses its connection, so that it notices the gap. */
const maxWaitingBytes = 1024 * 1024;

const keepAliveMs = 30_000;

/** The open streams of events, with one JSON line each. */
export class EventStreams {
  readonly #open = new Set<ServerResponse>();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  get count(): number {
    return this.#open.size;
  }

  /**
   * Starts a stream, which ends when the reader disconnects, is too slow, or the service stops.
   *
   * @throws RequestError
   */
  begin(response: ServerResponse, source: EventSource): void {
    if (this.#open.size >= maxStreams) throw callError('tooManyStreams');
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
    // A reader that has closed its sending half could not end the stream otherwise.
    response.socket?.once('end', () => response.end());
    // Detects a reader whose machine is gone while no event is sent.
    response.socket?.setKeepAlive(true, keepAliveMs);
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    response.flushHeaders();
  }

  /** Ends every stream, so that a stop does not wait for readers. */
  end(): void {
    for (const response of this.#open) response.end();
  }
}

/**
 * Sends the answer of a call with the status 200.
 *
 * @throws RequestError when there are too many streams
 */
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

/** Sends an error in the format of the protocol. */
export function sendError(response: ServerResponse, rejected: RequestError): void {
  for (const [name, value] of Object.entries(rejected.headers)) response.setHeader(name, value);
  response.setHeader('x-content-type-options', 'nosniff');
  sendText(response, rejected.status, 'application/json', JSON.stringify({ message: rejected.message }));
}

function sendText(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) }).end(text);
}
