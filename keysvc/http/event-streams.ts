import type { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Logger } from '../../platform/logger.ts';
import { refuse } from './refused.ts';

/** What a stream shows: events as they come, none of before. */
export type EventSource = EventEmitter<{ event: [object] }>;

/** Streams at once, which bounds what they can hold together. */
const maxStreams = 64;

/** Bytes that may wait for a reader. One that falls behind further loses its connection, so that it knows that it missed something. */
export const maxWaitingBytes = 1024 * 1024;

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
