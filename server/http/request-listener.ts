import { varyByOrigin } from './contract/vary-by-origin.ts';
import type { IncomingMessage, IncomingHttpHeaders, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import type {
  ClientCertificate,
  IncomingRequest,
  RequestHandler,
  Answer,
  RequestEvents,
  FinishedRequest,
} from './contract/request.ts';
import { verificationError } from '../../platform/tls/client-certificate.ts';
import { MessageBody } from './message-body.ts';
import type { FindSource } from './contract/source-address.ts';
import { tlsVersionOf } from './contract/tls-version.ts';
import { joinRepeatedMetadata } from './repeated-metadata.ts';
import { createHostStyleFinder } from './contract/host-style.ts';
import type { BodyMemory } from '../streams/body-memory.ts';
import type { Logger } from '../../platform/output/logger.ts';
import { createSourceFinder } from './contract/source-address.ts';
import { RepeatedLines } from '../../platform/output/repeated-lines.ts';
import { RequestAudit } from './contract/request-audit.ts';
import { sendAnswer } from './send-answer.ts';
import { asS3Error, answerError } from './contract/error-answer.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { isNotServing } from './contract/not-serving.ts';

/** Returns the certificate of the client, and the error of its verification. */
function clientCertificateOf(socket: Socket, authorities: ClientAuthorities): ClientCertificate | undefined {
  if (!(socket instanceof TLSSocket)) return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return undefined;
  const error = verificationError(socket, { authorities, now: Date.now });
  return error === undefined ? { certificate } : { certificate, issue: error.reason ?? error.code };
}

/** Returns the authorities of client certificates. */
type ClientAuthorities = () => readonly X509Certificate[];

/** Converts a message of `node:http` to the request that the handlers get. */
function toIncomingRequest(
  message: IncomingMessage,
  options: {
    readonly requestId: string;
    readonly secure: boolean;
    readonly body: MessageBody;
    readonly measure: IncomingRequest['measure'];
    readonly audit: IncomingRequest['audit'];
    readonly clientAuthorities: ClientAuthorities | undefined;
    readonly findSource: FindSource;
    readonly findHostStyle: FindHostStyle;
  },
): IncomingRequest {
  const { clientAuthorities } = options;
  const { url = '/' } = message;
  const absolute = url.startsWith('/') ? undefined : splitAbsolute(message);
  const target = absolute?.target ?? url;
  const headers = absolute?.headers ?? joinedHeaders(message);
  const { address } = options.findSource(message.socket.remoteAddress, message.headers);
  const question = target.indexOf('?');
  return {
    requestId: options.requestId,
    method: message.method ?? 'GET',
    rawPath: question < 0 ? target : target.slice(0, question),
    rawQuery: question < 0 ? '' : target.slice(question + 1),
    headers,
    hostStyle: options.findHostStyle(headers.host),
    body: options.body,
    secure: options.secure,
    tlsVersion: options.secure ? () => tlsVersionOf(message.socket) : undefined,
    remoteAddress: address,
    measure: options.measure,
    audit: options.audit,
    clientCertificate: clientAuthorities && (() => clientCertificateOf(message.socket, clientAuthorities)),
  };
}

function joinedHeaders(message: IncomingMessage): IncomingHttpHeaders {
  // Few requests repeat a header.
  const repeats = message.rawHeaders.length > 2 * Object.keys(message.headers).length;
  return repeats ? joinRepeatedMetadata(message) : message.headers;
}

/**
 * Splits the target `http://host/path`. Its host replaces that of the header, also where a signature covers it.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9112#section-3.2.2
 */
function splitAbsolute({ url = '/', headers }: IncomingMessage): { target: string; headers: IncomingHttpHeaders } {
  const [, host, rest = ''] = /^https?:\/\/([^/?]*)(.*)$/i.exec(url) ?? [];
  return {
    target: rest.startsWith('/') ? rest : `/${rest}`,
    headers: host === undefined ? headers : { ...headers, host },
  };
}

type FindHostStyle = ReturnType<typeof createHostStyleFinder>;

/** Codes of 5xx that are not failures of this server: it asks the client to come back later, or has not what the client asks for. */
const expectedRefusals: ReadonlySet<string> = new Set(['NotImplemented', 'SlowDown', 'Busy']);

/** The metrics of a request. */
interface RequestMeasure extends NonNullable<IncomingRequest['measure']> {
  firstByte(): void;
  /** Bytes of the bodies, as far as they are known in advance. */
  moved(received: number, sent: number): void;
  rejected(code: string): void;
  /** `canceled` where the client went away. */
  ended(outcome: number | 'canceled'): void;
  readonly firstByteMs: number | undefined;
}

interface RequestListenerOptions {
  readonly handle: RequestHandler;
  readonly secure: boolean;
  /** Present if the server asks clients for certificates. */
  readonly clientAuthorities?: ClientAuthorities;
  /** Finds the address that a request comes from; by default the peer of the connection. */
  readonly findSource?: FindSource;
  /** Finds out how the Host addresses buckets; by default it names none. */
  readonly findHostStyle?: FindHostStyle;
  readonly nextRequestId: () => string;
  /** Returns the headers for the answer to a request with `Origin`; undefined for an API that serves no other origins. Never rejects. */
  readonly crossOrigin?: (request: IncomingRequest) => Promise<Readonly<Record<string, string>>> | undefined;
  /** The shared count of the bodies in memory. */
  readonly bodies?: BodyMemory;
  readonly log: Logger;
  /** Creates the metrics of a request. */
  readonly measure?: () => RequestMeasure;
  /** Returns the answer to a request that failed; a document of S3 by default. */
  readonly answerFailure?: (error: unknown, request: IncomingRequest) => Answer;
  /** Gets each finished request. */
  readonly events?: RequestEvents;
}

export type HttpListener = (message: IncomingMessage, response: ServerResponse, awaitsContinue: boolean) => void;

/**
 * Creates the listener that passes the messages of `node:http` to the handlers. It answers every failure, and logs those that are defects.
 */
export function createRequestListener(options: RequestListenerOptions): HttpListener {
  const { log, secure, clientAuthorities, events, findSource = createSourceFinder() } = options;
  const { findHostStyle = createHostStyleFinder([]) } = options;
  const headersWithoutOrigin = options.crossOrigin && { vary: varyByOrigin };
  const debug = log.isLevelEnabled('debug');
  const failures = new RepeatedLines(log);

  return (message, response, awaitsContinue) => {
    const requestId = options.nextRequestId();
    const measure = options.measure?.();
    const audit = events?.hasSubscribers === true ? new RequestAudit(message) : undefined;
    const body = new MessageBody(message, response, awaitsContinue, options.bodies);
    const request = toIncomingRequest(message, {
      requestId,
      secure,
      body,
      measure,
      audit,
      clientAuthorities,
      findSource,
      findHostStyle,
    });
    if (debug) logAccess(request, response);
    void serve(message, response, request, { measure, audit, body });
  };

  async function serve(
    message: IncomingMessage,
    response: ServerResponse,
    request: IncomingRequest,
    { measure, audit, body }: Observers,
  ): Promise<void> {
    const envelope: Envelope = { requestId: request.requestId, measure, headers: undefined, head: undefined };
    try {
      envelope.headers =
        message.headers.origin === undefined ? headersWithoutOrigin : await options.crossOrigin?.(request);
      const answer = await answerOf(message, request);
      await sendAnswer(message, response, answer, envelope);
      measure?.moved(contentLength(message), response.writableEnded ? sizeOf(message, answer) : 0);
      measure?.ended(response.writableEnded ? response.statusCode : 'canceled');
      if (audit !== undefined)
        emit({ request, response, audit, envelope, outcome: response.writableEnded ? 'answered' : 'canceled' });
    } catch (error) {
      const refusal = asS3Error(error);
      const canceled = clientDisconnected(message);
      const broken = response.headersSent;
      measure?.rejected(refusal.code);
      await sendFailure(message, response, request, error, envelope);
      // An answer that broke off has already sent the status 200.
      measure?.ended(canceled ? 'canceled' : broken ? 500 : refusal.status);
      audit?.setError({ code: refusal.code, message: refusal.message });
      const outcome = canceled ? 'canceled' : broken ? 'broken' : 'answered';
      if (audit !== undefined) emit({ request, response, audit, envelope, outcome });
    } finally {
      body.release();
    }
  }

  function emit({
    request,
    response,
    audit,
    envelope: { measure, head },
    outcome,
  }: {
    readonly request: IncomingRequest;
    readonly response: ServerResponse;
    readonly audit: RequestAudit;
    readonly envelope: Envelope;
    readonly outcome: FinishedRequest['outcome'];
  }): void {
    const status = response.headersSent ? response.statusCode : 0;
    const responseHeaders = response.headersSent && head !== undefined ? head : [];
    events?.emit(audit.finish(request, { status, outcome, firstByteMs: measure?.firstByteMs, responseHeaders }));
  }

  function answerOf(message: IncomingMessage, request: IncomingRequest): Promise<Answer> {
    // HTTP/1.1 requires the header, and signatures cover it.
    if (message.headers.host === undefined && message.httpVersionMinor > 0) {
      throw new S3Error('InvalidRequest', 'Missing required header for this request: Host');
    }
    if (request.hostStyle?.kind === 'malformed') throw new S3Error('InvalidRequest', request.hostStyle.issue);
    return options.handle(request);
  }

  async function sendFailure(
    message: IncomingMessage,
    response: ServerResponse,
    request: IncomingRequest,
    error: unknown,
    envelope: Envelope,
  ): Promise<void> {
    logFailure(request, message, error);
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    try {
      const answer = (options.answerFailure ?? answerError)(error, request);
      await sendAnswer(message, response, answer, envelope);
    } catch (second) {
      log.error({ err: second, requestId: request.requestId }, 'an answer could not be written');
      response.destroy();
    }
  }

  /**
   * Logs a failure. Errors of the client are logged only at the level debug. Of what is away, and answers 503, lines that repeat are left
   * out. Any other error of the server is logged each time: it may name a damaged object.
   */
  function logFailure(request: IncomingRequest, message: IncomingMessage, error: unknown): void {
    const refusal = asS3Error(error);
    const fields = {
      requestId: request.requestId,
      method: request.method,
      path: request.rawPath,
      code: refusal.code,
    };
    if (clientDisconnected(message)) log.debug(fields, 'the client went away before its request was whole');
    else if (isNotServing(error)) log.debug(fields, 'refused: this server does not serve now');
    else if (refusal.status >= 500 && !expectedRefusals.has(refusal.code)) {
      const found = { ...fields, err: refusal.cause ?? error };
      if (refusal.status === 503) failures.write('error', found, `request failed: ${refusal.code}`);
      else log.error(found, `request failed: ${refusal.code}`);
    } else if (debug) {
      log.debug({ ...fields, reason: reasonOf(refusal) }, `request refused: ${refusal.message}`);
    }
  }

  function logAccess(request: IncomingRequest, response: ServerResponse): void {
    const began = performance.now();
    response.on('close', () => {
      log.debug(
        {
          requestId: request.requestId,
          method: request.method,
          path: request.rawPath,
          status: response.statusCode,
          whole: response.writableFinished,
          ms: Math.round(performance.now() - began),
          remoteAddress: request.remoteAddress,
        },
        'request',
      );
    });
  }
}

/** The parts of an answer that do not come from the handler. */
interface Envelope {
  readonly requestId: string;
  readonly measure: RequestMeasure | undefined;
  headers: Readonly<Record<string, string>> | undefined;
  /** The headers of the answer, once they are known: names and values alternate. */
  head: string[] | undefined;
}

/** The observers and the body of a request. */
interface Observers {
  readonly measure: RequestMeasure | undefined;
  readonly audit: RequestAudit | undefined;
  readonly body: MessageBody;
}

/** Returns the declared size of the request's body in bytes; 0 without one. */
function contentLength({ headers }: IncomingMessage): number {
  const length = headers['content-length'];
  return length === undefined ? 0 : Number(length) || 0;
}

/** Returns the size of the answer's body in bytes, as far as it was known at the start. */
function sizeOf({ method }: IncomingMessage, { body }: Answer): number {
  if (method === 'HEAD') return 0;
  if (body.kind === 'bytes') return body.bytes.length;
  return body.kind === 'chunks' ? body.size : 0;
}

/**
 * Reports if the client closed the connection before its request was complete. Node ends a request without a body before it is complete.
 */
function clientDisconnected(message: IncomingMessage): boolean {
  return message.destroyed && !message.complete && !message.readableEnded;
}

/** Returns the reason of a policy's refusal, which only the log gets. */
function reasonOf(refusal: S3Error): string | undefined {
  if (typeof refusal.cause === 'string') return refusal.cause;
  return refusal.cause instanceof Error ? refusal.cause.message : undefined;
}

/** Returns the generator of a thread's request IDs: 16 hexadecimal digits, the first half random for the thread. */
export function requestIds(random: (size: number) => Buffer): () => string {
  const prefix = random(4).toString('hex').toUpperCase();
  let count = random(4).readUInt32BE();
  return () => {
    count = (count + 1) >>> 0;
    return prefix + count.toString(16).toUpperCase().padStart(8, '0');
  };
}
