import type { Socket } from 'node:net';
import { createServer as createHttpServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { answerHalfClosed, halfClosed } from '../../platform/http/half-closed.ts';
import { S3Error, type S3ErrorCode } from '../../protocol/s3/s3-error.ts';
import { startAfter } from './pipeline.ts';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import { Connections } from '../../platform/http/connections.ts';
import type { TlsMaterial } from '../../platform/tls/tls-files.ts';
import { answerError } from './contract/error-answer.ts';
import type { HttpListener } from './request-listener.ts';

/** The code for the end of a connection within a body. Node's parser has one code for that and for an end within a head. */
const bodyCut = 'body-cut';

/** The S3 code and message for the errors of Node's parser, by their code. */
const refusals: Readonly<Record<string, readonly [S3ErrorCode, string?]>> = {
  HPE_HEADER_OVERFLOW: ['RequestHeaderSectionTooLarge'],
  ERR_HTTP_REQUEST_TIMEOUT: ['RequestTimeout'],
  [bodyCut]: ['IncompleteBody'],
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
const limits = { headers: 60_000, idle: 120_000, keepAlive: 75_000 } as const;

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
      const before = connections.lastResponse(message.socket);
      const start = () => options.listener(message, response, awaitsContinue);
      if (before !== undefined && !before.writableFinished && !startAfter(before, message, start)) return;
      connections.began(message.socket, response);
      if (before === undefined || before.writableFinished) start();
    };
  const certificates = options.clientCertificates === true ? { requestCert: true, rejectUnauthorized: false } : {};
  const server: Server | HttpsServer =
    options.tls === undefined
      ? createHttpServer(serverOptions, onRequest(false))
      : createHttpsServer({ ...serverOptions, ...halfClosed, ...options.tls, ...certificates }, onRequest(false));
  answerHalfClosed(server);
  const connections = new Connections(server);
  server.on('checkContinue', onRequest(true));
  // The server ignores any other expectation.
  server.on('checkExpectation', onRequest(false));
  server.setTimeout(limits.idle);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const busy = connections.lastResponse(socket as Socket);
    const isBusy = busy !== undefined && !busy.writableFinished;
    const isCut = error.code === 'HPE_INVALID_EOF_STATE' && isBusy && !busy.req.complete;
    const code = isCut ? bodyCut : error.code;
    const refuse = () => socket.end(malformedAnswer(code, options.nextRequestId()), () => socket.destroy());
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    // A pipelined request is malformed. The client takes answers in the order of its requests.
    else if (isBusy && busy.req.complete) busy.once('close', () => socket.writable && refuse());
    // The client would take the bytes of a second answer for content of the first one.
    else if (isBusy && busy.headersSent) socket.destroy();
    else refuse();
  });
  return { server, connections };
}
