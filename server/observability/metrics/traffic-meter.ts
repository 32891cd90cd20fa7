import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { RequestCounters } from './request-counters.ts';

/** Milliseconds between reads of the byte counts of open connections. */
const intervalMs = 1_000;

/**
 * Counts the traffic of a server's connections by reading each socket's byte counts once a second: requests pay nothing, and a long
 * transfer is counted as it goes. HTTP bytes with heads, without TLS.
 */
export class TrafficMeter {
  readonly #counters: Pick<RequestCounters, 'moved'>;
  readonly #seen = new Map<Socket, { received: number; sent: number }>();
  readonly #timer: NodeJS.Timeout;

  constructor(server: Server, counters: Pick<RequestCounters, 'moved'>) {
    this.#counters = counters;
    server.on('setSecureContext' in server ? 'secureConnection' : 'connection', (socket: Socket) => {
      this.#seen.set(socket, { received: 0, sent: 0 });
      socket.once('close', () => {
        this.#lookAt(socket);
        this.#seen.delete(socket);
      });
    });
    this.#timer = setInterval(() => this.look(), intervalMs).unref();
  }

  look(): void {
    for (const socket of this.#seen.keys()) this.#lookAt(socket);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #lookAt(socket: Socket): void {
    const seen = this.#seen.get(socket);
    if (seen === undefined) return;
    const { bytesRead, bytesWritten } = socket;
    this.#counters.moved(bytesRead - seen.received, bytesWritten - seen.sent);
    seen.received = bytesRead;
    seen.sent = bytesWritten;
  }
}
