import { constants, type X509Certificate } from 'node:crypto';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import { rootCertificates, type TLSSocket } from 'node:tls';
import { Connections } from '../../platform/connections.ts';
import { applyTlsMaterial, type TlsChange } from '../../platform/tls/reloading-context.ts';
import type { TlsMaterial } from '../../platform/tls/tls-files.ts';
import type { TlsProxies } from '../config/config.ts';
import { callersOf, certificatesOf } from './caller.ts';
import { EventStreams } from './send-answer.ts';
import { createRequestListener, type ListenerOptions } from './request-listener.ts';

/** Sessions are never resumed: who was let in under an authority that is no longer trusted must shake hands again. */
const secureOptions = constants.SSL_OP_NO_TICKET;

/** How long calls under way may take to finish once the service stops. */
const drainMs = 10_000;

export interface KeyServer {
  readonly server: Server;
  /** Takes new certificates and authorities into use. Connections made under old authorities end at once, or with their answer. */
  reload(material: TlsMaterial, change: TlsChange): void;
  /** Whether it is about to stop: then it is not ready, though it answers every call. */
  readonly leaving: boolean;
  /** Answers end their connections from now on, so that clients come back to another server. */
  leave(): void;
  /** Takes no further connections and resolves when the calls under way are answered. */
  drain(): Promise<void>;
}

export interface KeyServerOptions extends Pick<ListenerOptions, 'service' | 'log' | 'logErrors'> {
  readonly verifyClients: boolean;
  readonly proxies: TlsProxies;
  /** Milliseconds in which a request must have come. */
  readonly requestTimeoutMs: number;
}

/** The HTTPS server of the key service, not yet listening. */
export function createKeyServer(material: TlsMaterial, options: KeyServerOptions): KeyServer {
  let outdated = new WeakSet<Socket>();
  const authorized = new Set<Socket>();
  const closes = (socket: TLSSocket) => outdated.has(socket);
  const streams = new EventStreams(options.log);
  let { ca } = material;
  let authorities: readonly X509Certificate[] | undefined;
  const whoCalls = callersOf({
    verify: options.verifyClients,
    proxies: options.proxies,
    authorities: () => (authorities ??= certificatesOf(ca?.toString() ?? rootCertificates.join('\n'))),
    now: options.service.now,
  });
  const { service, log, logErrors } = options;
  const answer = createRequestListener({ service, log, logErrors, whoCalls, streams, closes });

  const server = createServer(
    {
      ...material,
      secureOptions,
      requestCert: true,
      // Each call is checked instead: Node ends a refused handshake without an alert and without an event, so that neither the client
      // nor the administrators would learn why.
      rejectUnauthorized: false,
      handshakeTimeout: 10_000,
      headersTimeout: 5000,
      requestTimeout: options.requestTimeoutMs,
      keepAliveTimeout: 90_000,
    },
    (request, response) => {
      connections.began(request.socket, response);
      answer(request, response);
    },
  );
  const connections = new Connections(server);
  server.on('secureConnection', (socket) => {
    authorized.add(socket);
    socket.once('close', () => authorized.delete(socket));
  });
  server.on('tlsClientError', (error: NodeJS.ErrnoException & { reason?: string }, socket) => {
    // A probe that only connects and leaves is no event.
    if (error.code === 'ECONNRESET') return;
    const message = `TLS handshake refused: ${error.reason ?? error.message}`;
    log.warn({ ip: socket.remoteAddress, code: error.code }, message);
    service.errors.record(message);
  });

  return {
    server,
    reload(next, change) {
      applyTlsMaterial(server, next, { secureOptions });
      if (!change.ca) return;
      ({ ca } = next);
      authorities = undefined;
      outdated = new WeakSet(authorized);
      server.closeIdleConnections();
    },
    get leaving() {
      return connections.closing;
    },
    leave: () => connections.startClosing(),
    drain() {
      streams.end();
      return connections.drain(drainMs);
    },
  };
}
