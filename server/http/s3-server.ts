import { createServer as createHttpServer } from 'node:http';
import type { RequestListener, Server, ServerOptions } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { Connections } from '../../platform/connections.ts';
import type { TlsMaterial } from '../../platform/tls/tls-files.ts';
import type { HttpListener } from './request-listener.ts';
import { malformedAnswer } from './malformed-request.ts';

/** Milliseconds. Uploads may take hours, so that only silence ends them; a head must come soon. */
const limits = { headers: 60_000, silence: 120_000, keepAlive: 75_000 } as const;

/** Bytes of a request's head: a presigned URL of the longest key with a session token, and 2 KiB of metadata, fit. */
const maxHeaderSize = 32 * 1024;

const serverOptions: ServerOptions = {
  maxHeaderSize,
  joinDuplicateHeaders: true,
  requireHostHeader: false,
  // A request without a body is no stream that has to be ended: an eighth of what Node does for a small GET.
  optimizeEmptyRequests: true,
  requestTimeout: 0,
  headersTimeout: limits.headers,
  keepAliveTimeout: limits.keepAlive,
};

export interface S3Server {
  readonly server: Server | HttpsServer;
  readonly connections: Connections;
}

/** A server for the S3 port, not yet listening. */
export function createS3Server(options: {
  readonly listener: HttpListener;
  readonly nextRequestId: () => string;
  readonly tls?: TlsMaterial;
  /** Asks clients for a certificate; who has none or a bad one is served all the same, but for what needs it. */
  readonly clientCertificates?: boolean;
}): S3Server {
  const onRequest =
    (awaitsContinue: boolean): RequestListener =>
    (message, response) => {
      connections.began(message.socket, response);
      options.listener(message, response, awaitsContinue);
    };
  const certificates = options.clientCertificates === true ? { requestCert: true, rejectUnauthorized: false } : {};
  const server: Server | HttpsServer =
    options.tls === undefined
      ? createHttpServer(serverOptions, onRequest(false))
      : createHttpsServer({ ...serverOptions, ...options.tls, ...certificates }, onRequest(false));
  const connections = new Connections(server);
  server.on('checkContinue', onRequest(true));
  // Any other expectation: the body is simply read.
  server.on('checkExpectation', onRequest(false));
  server.setTimeout(limits.silence);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const busy = connections.lastResponse(socket as Socket);
    const answering = busy !== undefined && busy.headersSent && !busy.writableFinished;
    // In the middle of an answer, bytes of another would be taken for its content.
    if (error.code === 'ECONNRESET' || !socket.writable || answering) socket.destroy();
    else socket.end(malformedAnswer(error.code, options.nextRequestId()), () => socket.destroy());
  });
  return { server, connections };
}
