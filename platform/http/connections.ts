import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { collectGarbage } from '../process/collect-garbage.ts';

/**
 * The time in milliseconds for which kept connections stay open after the last one was accepted. A request that was on its way while the
 * listener closed still gets a response, and the response closes the connection.
 */
const lingerMs = 250;

/** The interval in milliseconds of the search for idle connections. */
const lookMs = 50;

/** The maximum number of turns of the event loop for queued connections. If each response ends a connection, they never stop coming. */
const maxRounds = 1000;

/**
 * The number of closed connections after which the garbage of this thread is collected. Node's objects of a connection are outside V8's
 * heap, some KiB each, and only a major collection frees them. V8 does not count them: 50,000 connections, each for one request, left 110
 * MiB (docs/decisions/0004-memory-of-bodies.md).
 */
const closedBetweenCollections = 2048;

/**
 * The connections of one HTTP or HTTPS server. With it the server can stop without an error at a client: each client gets `Connection:
 * close` in its next response, and only connections without a request are cut.
 *
 * Node's own `server.close()` cuts idle connections at once, where a request may be arriving.
 */
export class Connections {
  readonly #server: Server;
  /** The last response that began on each connection; undefined before the first one. */
  readonly #open = new Map<Socket, ServerResponse | undefined>();
  /** Connections during their TLS handshake, by the address of their peer. Node's server does not know them. */
  readonly #handshaking = new Map<string, Socket>();
  #closing = false;
  #accepted = 0;
  #closed = 0;

  constructor(server: Server, collect = collectGarbage) {
    this.#server = server;
    // A TLS server gets requests from the secure socket, which ends with the socket below it.
    const isTls = 'setSecureContext' in server;
    server.on('connection', (socket: Socket) => {
      this.#accepted++;
      socket.once('close', () => {
        this.#closed = (this.#closed + 1) % closedBetweenCollections;
        if (this.#closed === 0) collect('major');
      });
      if (!isTls) return;
      const peer = peerOf(socket);
      this.#handshaking.set(peer, socket);
      socket.once('close', () => this.#handshaking.delete(peer));
    });
    server.on('tlsClientError', (_error, socket: Socket) => this.#handshaking.delete(peerOf(socket)));
    server.on(isTls ? 'secureConnection' : 'connection', (socket: Socket) => {
      this.#handshaking.delete(peerOf(socket));
      this.#open.set(socket, undefined);
      socket.once('close', () => this.#open.delete(socket));
    });
  }

  /** Responses close their connections now. */
  get closing(): boolean {
    return this.#closing;
  }

  /** Returns the last response that began on a connection, or undefined before the first one. */
  lastResponse(socket: Socket): ServerResponse | undefined {
    return this.#open.get(socket);
  }

  /** The server must call this for every request before it handles it. */
  began(socket: Socket, response: ServerResponse): void {
    this.#open.set(socket, response);
    if (this.#closing) response.setHeader('connection', 'close');
  }

  /** Makes every response close its connection from now on. The server still accepts new connections. */
  startClosing(): void {
    this.#closing = true;
    for (const response of this.#open.values()) {
      if (response !== undefined && !response.headersSent) response.setHeader('connection', 'close');
    }
  }

  /** Stops accepting connections. Resolves when the requests in progress are answered, or were cut after `graceMs` milliseconds. */
  async drain(graceMs: number): Promise<void> {
    this.startClosing();
    if (!this.#server.listening) return;
    await this.#untilNoneIsQueued();
    const closed = new Promise<void>((resolve) => {
      NetServer.prototype.close.call(this.#server, () => resolve());
    });
    const cut = setTimeout(() => this.#server.closeAllConnections(), graceMs);
    let look: NodeJS.Timeout | undefined;
    const linger = setTimeout(
      () => {
        this.#closeIdle();
        look = setInterval(() => this.#closeIdle(), lookMs);
      },
      Math.min(lingerMs, graceMs),
    );
    await closed;
    for (const timer of [cut, linger, look]) clearTimeout(timer);
  }

  /**
   * Closing the listener resets connections that the kernel has accepted and this process has not. One turn of the event loop takes one of
   * them. This method ends after the first turn without one, right after the event loop has polled.
   */
  async #untilNoneIsQueued(): Promise<void> {
    // The caller may run after the poll of this turn.
    await nextTurn();
    for (let turn = 0; turn < maxRounds; turn++) {
      const before = this.#accepted;
      await nextTurn();
      if (this.#accepted === before) return;
    }
  }

  #closeIdle(): void {
    this.#server.closeIdleConnections();
    // Node counts a connection without a request as busy; browsers open such connections in advance.
    for (const socket of this.#handshaking.values()) socket.destroy();
    for (const [socket, response] of this.#open) if (response === undefined && isSilent(socket)) socket.destroy();
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Returns the same name for a socket and the secure socket on top of it. */
function peerOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}

/** Reports whether no byte of a request has come. The bytes of a secure socket include its handshake, so that it never counts as silent. */
function isSilent(socket: Socket): boolean {
  return socket instanceof TLSSocket || socket.bytesRead === 0;
}
