import { S3Error, type S3ErrorCode } from '../../protocol/s3/s3-error.ts';
import { answerError } from '../s3/answers.ts';
import { createServer as createHttpServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { Connections } from '../../platform/connections.ts';
import type { TlsMaterial } from '../../platform/tls/tls-files.ts';
import type { HttpListener } from './request-listener.ts';

/** Returns the generator of a thread's request IDs: 16 hexadecimal digits, the first half random for the thread. */
export function requestIds(random: (size: number) => Buffer): () => string {
  const prefix = random(4).toString('hex').toUpperCase();
  let count = random(4).readUInt32BE();
  return () => {
    count = (count + 1) >>> 0;
    return prefix + count.toString(16).toUpperCase().padStart(8, '0');
  };
}

/** The S3 code and message for the errors of Node's parser, by their code. */
const refusals: Readonly<Record<string, readonly [S3ErrorCode, string?]>> = {
  HPE_HEADER_OVERFLOW: ['RequestHeaderSectionTooLarge'],
  ERR_HTTP_REQUEST_TIMEOUT: ['RequestTimeout'],
};

/** Returns the answer to a request that could not be parsed. The server closes the connection after it. */
function malformedAnswer(errorCode: string | undefined, requestId: string): string {
  const [code, message] = refusals[errorCode ?? ''] ?? ['InvalidRequest', 'The request is not valid HTTP/1.1.'];
  const answer = answerError(new S3Error(code, message), { method: '', rawPath: '/', requestId });
  const body = answer.body.kind === 'bytes' ? answer.body.bytes.toString() : '';
  return [
    'HTTP/1.1 400 Bad Request',
    'Server: Coffer',
    'Content-Type: application/xml',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `x-amz-request-id: ${requestId}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}

/** Milliseconds. Uploads may take hours, so only silence ends them. A head must arrive soon. */
const limits = { headers: 60_000, silence: 120_000, keepAlive: 75_000 } as const;

/** The largest head of a request in bytes. A presigned URL with the longest key and a session token fits, and so do 2 KiB of metadata. */
const maxHeaderSize = 32 * 1024;

const serverOptions: ServerOptions = {
  maxHeaderSize,
  joinDuplicateHeaders: true,
  requireHostHeader: false,
  // Node creates no stream for a request without a body. That saves an eighth of its work for a small GET.
  optimizeEmptyRequests: true,
  requestTimeout: 0,
  headersTimeout: limits.headers,
  keepAliveTimeout: limits.keepAlive,
};

interface S3Server {
  readonly server: Server | HttpsServer;
  readonly connections: Connections;
}

/** Creates a server for the S3 port. The caller makes it listen. */
export function createS3Server(options: {
  readonly listener: HttpListener;
  readonly nextRequestId: () => string;
  readonly tls?: TlsMaterial;
  /** Asks clients for a certificate. A client without a valid one can use all operations that need none. */
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
  // The server ignores any other expectation.
  server.on('checkExpectation', onRequest(false));
  server.setTimeout(limits.silence);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const busy = connections.lastResponse(socket as Socket);
    const answering = busy !== undefined && busy.headersSent && !busy.writableFinished;
    // The client would take the bytes of a second answer for content of the first one.
    if (error.code === 'ECONNRESET' || !socket.writable || answering) socket.destroy();
    else socket.end(malformedAnswer(error.code, options.nextRequestId()), () => socket.destroy());
  });
  return { server, connections };
}
