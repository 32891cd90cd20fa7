import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/**
 * Milliseconds that kept connections stay open after the last was accepted: a request that was on its way while the listener closed
 * is still answered, and its answer says that the connection ends.
 */
const lingerMs = 250;

/** Milliseconds between looks for connections that have become idle. */
const lookMs = 50;

/** Turns of the event loop that may be spent on queued connections: they come without end where every answer ends one. */
const mostTurns = 1000;

/**
 * The connections of one HTTP or HTTPS server, so that it can stop without a client noticing: whoever has a connection is told by
 * `Connection: close` in its next answer, and only connections on which nothing is under way are cut.
 *
 * Node's own `server.close()` cuts idle connections at once, where a request may be arriving.
 */
export class Connections {
  readonly #server: Server;
  /** The last response begun on each connection; undefined where none was. */
  readonly #open = new Map<Socket, ServerResponse | undefined>();
  /** Connections of a TLS server that are no secure ones yet, by who is at their other end; Node's server knows nothing of them. */
  readonly #handshaking = new Map<string, Socket>();
  #closing = false;
  #accepted = 0;

  constructor(server: Server) {
    this.#server = server;
    // A TLS server's request comes over the secure socket, which ends with the one below it.
    const isTls = 'setSecureContext' in server;
    server.on('connection', (socket: Socket) => {
      this.#accepted++;
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

  /** Whether answers end their connections by now. */
  get closing(): boolean {
    return this.#closing;
  }

  /** The response that was begun last on a connection; undefined where none was. */
  lastResponse(socket: Socket): ServerResponse | undefined {
    return this.#open.get(socket);
  }

  /** To be told of every request before it is handled. */
  began(socket: Socket, response: ServerResponse): void {
    this.#open.set(socket, response);
    if (this.#closing) response.setHeader('connection', 'close');
  }

  /** From now on every answer ends its connection; new ones are accepted all the same. */
  startClosing(): void {
    this.#closing = true;
    for (const response of this.#open.values()) {
      if (response !== undefined && !response.headersSent) response.setHeader('connection', 'close');
    }
  }

  /** Stops accepting; resolves when the requests under way are answered, or were cut after so many milliseconds. */
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
   * Closing the listener resets connections that the kernel has accepted and this process has not yet. One turn of the event loop
   * takes one of them; the turn in which none came ends here, right after the look for new ones.
   */
  async #untilNoneIsQueued(): Promise<void> {
    // What called this may come after this turn's look.
    await nextTurn();
    for (let turn = 0; turn < mostTurns; turn++) {
      const before = this.#accepted;
      await nextTurn();
      if (this.#accepted === before) return;
    }
  }

  #closeIdle(): void {
    this.#server.closeIdleConnections();
    // Node counts a connection that never carried a request as busy; browsers open such in advance.
    for (const socket of this.#handshaking.values()) socket.destroy();
    for (const [socket, response] of this.#open) if (response === undefined && isSilent(socket)) socket.destroy();
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** The same for a socket and the secure one made of it. */
function peerOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}

/** Whether not even the beginning of a request has come. What a secure socket has read cannot be told: its handshake counts. */
function isSilent(socket: Socket): boolean {
  return socket instanceof TLSSocket || socket.bytesRead === 0;
}
