import { constants } from 'node:crypto';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { answerHalfClosed, halfClosed } from '../../platform/http/half-closed.ts';
import { Connections } from '../../platform/http/connections.ts';
import { RepeatedLines } from '../../platform/output/repeated-lines.ts';
import { trustedAuthorities } from '../../platform/tls/default-authorities.ts';
import { applyTlsMaterial, type TlsChange } from '../../platform/tls/reloading-context.ts';
import type { TlsMaterial } from '../../platform/tls/tls-files.ts';
import type { TlsProxies } from '../config/config.ts';
import { createCallerIdentifier } from './caller.ts';
import { EventStreams } from './send-answer.ts';
import { createRequestListener, type ListenerOptions } from './request-listener.ts';

/** Sessions cannot be resumed, so that a client must prove its certificate again after a change of the authorities. */
const secureOptions = constants.SSL_OP_NO_TICKET;

/** The time for running calls after the service stops. */
const drainMs = 10_000;

export interface KeyServer {
  readonly server: Server;
  /** Applies new certificates and authorities. Connections under old authorities end when idle, or after their answer. */
  reload(material: TlsMaterial, change: TlsChange): void;
  /** True if it is about to stop. It is not ready, but answers every call. */
  readonly leaving: boolean;
  /** Closes each connection after its next answer, so that clients connect to another server. */
  leave(): void;
  /** Stops accepting connections, and resolves when the running calls are answered. */
  drain(): Promise<void>;
}

interface KeyServerOptions extends Pick<ListenerOptions, 'service' | 'log' | 'logErrors'> {
  readonly verifyClients: boolean;
  readonly proxies: TlsProxies;
  /** The timeout for receiving a request, in milliseconds. */
  readonly requestTimeoutMs: number;
}

/** Makes the HTTPS server of the key service. The caller makes it listen. */
export function createKeyServer(material: TlsMaterial, options: KeyServerOptions): KeyServer {
  let outdated = new WeakSet<Socket>();
  const authorized = new Set<Socket>();
  const closes = (socket: TLSSocket) => outdated.has(socket);
  const streams = new EventStreams(options.log);
  let { ca } = material;
  const identifyCaller = createCallerIdentifier({
    verify: options.verifyClients,
    proxies: options.proxies,
    authorities: () => trustedAuthorities(ca),
    now: options.service.now,
  });
  const { service, log, logErrors } = options;
  const answer = createRequestListener({ service, log, logErrors, identifyCaller, streams, closes });

  const server = createServer(
    {
      ...material,
      ...halfClosed,
      secureOptions,
      requestCert: true,
      // Each call checks the certificate instead. Node ends a refused handshake without an alert and without an event, so neither the
      // client nor the administrators would see the reason.
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
  answerHalfClosed(server);
  const connections = new Connections(server);
  server.on('secureConnection', (socket) => {
    authorized.add(socket);
    socket.once('close', () => authorized.delete(socket));
  });
  const refusals = new RepeatedLines(log);
  server.on('tlsClientError', (error: NodeJS.ErrnoException & { reason?: string }, socket) => {
    // A probe that only connects is not logged.
    if (error.code === 'ECONNRESET') return;
    const message = `TLS handshake refused: ${error.reason ?? error.message}`;
    refusals.write('warn', { ip: socket.remoteAddress, code: error.code }, message);
    service.errors.record(message);
  });

  return {
    server,
    reload(next, change) {
      applyTlsMaterial(server, next, { secureOptions });
      if (!change.ca) return;
      ({ ca } = next);
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
