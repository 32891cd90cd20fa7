import { readErrorDocument } from '../../protocol/s3/responses.ts';
import { once } from 'node:events';
import {
  Agent,
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import { SigningKeys } from '../../protocol/sigv4/signing-key.ts';
import { percentEncode, percentEncodePath } from '../../protocol/uri/percent-encoding.ts';
import { isMarkedAsS3, saysAbsent } from '../../protocol/s3/s3-answer.ts';
import { signRequest } from '../../protocol/sigv4/sign-request.ts';
import { messageOf } from '../../platform/errors/system-error.ts';
import type { RemoteTarget } from '../../protocol/admin/remote-target.ts';
import { DeliveryError } from '../outbox/delivery-error.ts';
import { abortError, type PoolAnswer as TargetAnswer } from '../outbox/http-pool.ts';
import { timeoutText } from '../../platform/text/message-text.ts';
import { WholeExchange } from './whole-exchange.ts';

export type { PoolAnswer as TargetAnswer } from '../outbox/http-pool.ts';

export interface TargetRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Absent for a request to the bucket. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Names in lower case; values have one character for each byte. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | { readonly size: number; readonly chunks: AsyncIterable<Buffer> };
  /** Ends the request, also while its answer is read. */
  readonly signal?: AbortSignal;
}

/** An answer whose body was not read yet. */
export interface OpenAnswer extends Omit<TargetAnswer, 'text'> {
  readonly chunks: AsyncIterable<Buffer>;
  /** Reads a short body. */
  whole(): Promise<TargetAnswer>;
  /** Ends the connection, unless the body was read to its end. */
  discard(): Promise<void>;
}

/** Milliseconds without traffic, after which a target counts as away. */
const idleMs = 30_000;
/** Milliseconds for which an unused connection is kept; servers keep them for 5 s and more. */
const keepMs = 4_000;
const maxAnswerBytes = 1024 * 1024;
const maxConnections = 64;
/** Signing keys that are kept: those of a day and of the next. */
const keptSigningKeys = 2;

/** Asks for what the target has itself. A target that asked this server in turn would seem to have every version of it. */
const ownOnly = { 'x-minio-source-proxy-request': 'false' };
/** The parameters of a read that a server may pass on. */
const ofOneObject: ReadonlySet<string> = new Set(['versionId', 'partNumber', 'tagging']);

/** Sends signed requests to the bucket of a remote target, over connections that it keeps. */
export class TargetClient {
  readonly #target: RemoteTarget;
  readonly #agent: Agent | HttpsAgent;
  readonly #signingKeys = new SigningKeys(keptSigningKeys);
  #place: TargetPlace | undefined;
  #whole: WholeExchange | undefined;
  readonly #signal: AbortSignal | undefined;
  /** A listener of the signal for each request would cost more than this. */
  readonly #underWay = new Set<ClientRequest>();

  constructor(target: RemoteTarget, signal?: AbortSignal) {
    this.#target = target;
    this.#signal = signal;
    signal?.addEventListener('abort', this.#abort, { once: true });
    const options = { keepAlive: true, timeout: keepMs, maxSockets: maxConnections };
    this.#agent = target.secure ? new HttpsAgent(options) : new Agent(options);
  }

  close(): void {
    this.#signal?.removeEventListener('abort', this.#abort);
    this.#agent.destroy();
    this.#whole?.close(new Error('the client was closed'));
  }

  readonly #abort = () => {
    this.#whole?.close(abortError(this.#signal));
    for (const request of this.#underWay) request.destroy(abortError(this.#signal));
  };

  /** Resolves with any answer. Rejects with a `DeliveryError` where there is none, and with the error of a body that cannot be read. */
  async send(asked: TargetRequest): Promise<TargetAnswer> {
    const { body } = asked;
    const sent = body === undefined || Buffer.isBuffer(body) ? undefined : new WatchedBody(body);
    try {
      return await (sent === undefined ? this.#sendWhole(asked) : this.#exchange({ ...asked, body: sent }));
    } catch (error) {
      if (sent?.failure !== undefined) throw sent.failure.error;
      throw asUnavailable(this.#target, error);
    }
  }

  /** Resolves with an answer whose body is read by the caller, who calls `discard` at the end. */
  async open(asked: Omit<TargetRequest, 'body'>): Promise<OpenAnswer> {
    try {
      const [request, answered] = this.#request(asked);
      request.end();
      const [answer] = await answered;
      // A consumer that is slow leaves the connection without traffic. `ofTarget` watches the target.
      request.setTimeout(0);
      const { statusCode: status = 0, headers } = answer;
      const chunks = ofTarget(this.#target, answer);
      return {
        status,
        headers,
        chunks,
        whole: async () => ({ status, headers, text: await textOf(chunks) }),
        discard: () => {
          if (!answer.readableEnded) answer.destroy();
          return Promise.resolve();
        },
      };
    } catch (error) {
      throw asUnavailable(this.#target, error);
    }
  }

  /** Sends a request whose body is in memory. */
  #sendWhole(asked: TargetRequest): Promise<TargetAnswer> {
    const { body, signal } = asked;
    const { method, path, headers } = this.#sign(asked);
    this.#whole ??= new WholeExchange({
      origin: originOf(this.#target, this.#placeOf()),
      connections: maxConnections,
      idleMs,
      keepMs,
      maxAnswerBytes,
    });
    return this.#whole.send({ method, path, headers, body: Buffer.isBuffer(body) ? body : undefined, signal });
  }

  async #exchange(asked: TargetRequest & { readonly body: WatchedBody }): Promise<TargetAnswer> {
    const [request, answered] = this.#request(asked);
    // An answer that comes before the end of the body, such as a refusal, ends the body.
    pipeline(Readable.from(asked.body.chunks), request).catch(() => undefined);
    try {
      const [answer] = await answered;
      return {
        status: answer.statusCode ?? 0,
        headers: answer.headers,
        text: await textOf(answer as AsyncIterable<Buffer>),
      };
    } catch (error) {
      request.destroy();
      throw error;
    } finally {
      // A body that is not sent whole leaves a connection that cannot be used again.
      if (!request.writableFinished) request.destroy();
    }
  }

  /** Makes a request that leaves when the caller ends it. */
  #request(asked: TargetRequest): [ClientRequest, Promise<[IncomingMessage]>] {
    const { signal } = asked;
    const { hostname, port } = this.#placeOf();
    const options: RequestOptions = {
      agent: this.#agent,
      host: hostname,
      port,
      ...this.#sign(asked),
      ...(signal !== undefined && { signal }),
    };
    const request = this.#target.secure ? httpsRequest(options) : httpRequest(options);
    this.#underWay.add(request);
    request.once('close', () => this.#underWay.delete(request));
    request.setTimeout(idleMs, () => request.destroy(new Error(`it did not answer within ${timeoutText(idleMs)}`)));
    return [request, once(request, 'response') as Promise<[IncomingMessage]>];
  }

  #placeOf(): TargetPlace {
    return (this.#place ??= placeOf(this.#target));
  }

  /** Signs a request. Throws where the work of this client is over. */
  #sign({ method, key, query = {}, headers = {}, body }: TargetRequest): SignedTargetRequest {
    if (this.#signal?.aborted === true) throw abortError(this.#signal);
    const { host, bucketPath } = this.#placeOf();
    const rawPath = percentEncodePath(key === undefined ? bucketPath : `${bucketPath.replace(/\/$/, '')}/${key}`);
    const rawQuery = Object.entries(query)
      .map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`)
      .join('&');
    const size = body === undefined ? 0 : Buffer.isBuffer(body) ? body.length : body.size;
    const isRead = method === 'GET' || method === 'HEAD';
    const ofObject = isRead && key !== undefined && Object.keys(query).every((name) => ofOneObject.has(name));
    // A request without a body has this header only if its method expects a body.
    const hasLength = method === 'PUT' || method === 'POST';
    const unsigned = {
      ...(ofObject && ownOnly),
      ...headers,
      host,
      ...(hasLength && { 'content-length': String(size) }),
    };
    const { accessKey, secretKey, sessionToken, region } = this.#target;
    const signed = signRequest(
      { method, rawPath, rawQuery, headers: unsigned },
      { accessKey, secretKey, ...(sessionToken !== undefined && { sessionToken }) },
      {
        region: region === '' ? 'us-east-1' : region,
        service: 's3',
        now: new Date(),
        payloadHash: 'UNSIGNED-PAYLOAD',
        signingKeys: this.#signingKeys,
      },
    );
    return {
      method,
      path: rawQuery === '' ? rawPath : `${rawPath}?${rawQuery}`,
      headers: { ...unsigned, ...signed },
    };
  }
}

interface SignedTargetRequest {
  readonly method: TargetRequest['method'];
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The chunks of an answer. An error of the connection is one of the target. The target alone must be fast, not the consumer. */
async function* ofTarget(target: RemoteTarget, answer: IncomingMessage): AsyncGenerator<Buffer> {
  const chunks = (answer as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  try {
    for (;;) {
      const idle = setTimeout(
        () => answer.destroy(new Error(`it did not continue its answer within ${timeoutText(idleMs)}`)),
        idleMs,
      );
      const next = await chunks.next().finally(() => clearTimeout(idle));
      if (next.done === true) return;
      yield next.value;
    }
  } catch (error) {
    throw asUnavailable(target, error);
  } finally {
    if (!answer.readableEnded) answer.destroy();
  }
}

function asUnavailable({ endpoint }: RemoteTarget, error: unknown): DeliveryError {
  if (error instanceof DeliveryError) return error;
  const message = error instanceof Error ? messageOf(error) : String(error);
  const why = message === 'wrong version number' ? 'the server speaks no TLS there: write http://' : message;
  return new DeliveryError('unavailable', `${endpoint}: ${why}`, { cause: error });
}

/** Remembers that reading a body has failed: the request then fails too, and the target is not to blame. */
class WatchedBody {
  readonly size: number;
  readonly chunks: AsyncIterable<Buffer>;
  failure: { readonly error: unknown } | undefined;

  constructor({ size, chunks }: Exclude<TargetRequest['body'], Buffer | undefined>) {
    this.size = size;
    this.chunks = this.#watched(chunks);
  }

  async *#watched(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    try {
      yield* chunks;
    } catch (error) {
      this.failure = { error };
      throw error;
    }
  }
}

/** The address of the bucket of a target. */
interface TargetPlace {
  readonly host: string;
  readonly hostname: string;
  readonly port: number;
  /** Not encoded. */
  readonly bucketPath: string;
}

function placeOf({ endpoint, secure, targetBucket, path }: RemoteTarget): TargetPlace {
  const inHost = path === 'off' || (path === 'auto' && /(?:^|\.)amazonaws\.com(?:\.cn)?(?::|$)/.test(endpoint));
  const host = inHost ? `${targetBucket}.${endpoint}` : endpoint;
  const { hostname, port } = new URL(`${secure ? 'https' : 'http'}://${host}`);
  return {
    host,
    hostname: hostname.replaceAll(/[[\]]/g, ''),
    port: port === '' ? (secure ? 443 : 80) : Number(port),
    bucketPath: inHost ? '/' : `/${targetBucket}`,
  };
}

function originOf({ secure }: RemoteTarget, { host }: TargetPlace): string {
  return `${secure ? 'https' : 'http'}://${host}`;
}

async function textOf(answer: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer) {
    size += chunk.length;
    if (size > maxAnswerBytes) throw new Error(`the answer is longer than ${maxAnswerBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** The code of an S3 error; the status where there is none. The message of a refusal for its time names the clocks of both sides. */
export function errorOf(answer: TargetAnswer): { readonly code: string; readonly message: string } {
  const { status, text, headers } = answer;
  const message = readErrorDocument(text)?.message.slice(0, 500);
  const found = namedError(answer) ?? String(status);
  const clocks = found === 'RequestTimeTooSkewed' ? clocksOf(text, headers) : '';
  return { code: found, message: `${message ?? ''}${clocks}`.trim() };
}

/** The code that an answer names, in its document or in a header. */
function namedError({ text, headers }: TargetAnswer): string | undefined {
  const code = readErrorDocument(text)?.code.slice(0, 100) || /"Code":"([^"]{1,100})"/.exec(text)?.[1];
  const named = headers['x-minio-error-code'];
  return code ?? (typeof named === 'string' ? named : undefined);
}

function clocksOf(text: string, { date }: TargetAnswer['headers']): string {
  const there = Date.parse(readErrorDocument(text)?.fields['ServerTime'] ?? String(date));
  if (Number.isNaN(there)) return '';
  return ` (the clock there says ${new Date(there).toISOString()}, the clock here ${new Date().toISOString()})`;
}

/** Reports whether the target itself says that a key or a version does not exist there. */
export function isAbsentThere(answer: TargetAnswer): boolean {
  return saysAbsent(answer.status, namedError(answer), answer.headers);
}

/**
 * Throws a `DeliveryError` unless the target did what it was asked for. Errors of the credentials, the bucket and the server hold for
 * every version, and so does the answer of a proxy before the server; all others are of this one.
 */
export function checkAnswer(answer: TargetAnswer, doing: string): void {
  const { status, text } = answer;
  // A slow copy or completion answers 200 before its error.
  const failed = status < 200 || status >= 300 || /<Error>/.test(text.slice(0, 1_000));
  if (!failed) return;
  const { code, message } = errorOf(answer);
  const ofProxy = namedError(answer) === undefined && !isMarkedAsS3(answer.headers);
  const ofAll =
    status >= 500 ? code !== 'NotImplemented' : unavailable.has(code) || status === 429 || status === 408 || ofProxy;
  throw new DeliveryError(ofAll ? 'unavailable' : 'rejected', `could not ${doing}: ${code} ${message}`.trim(), {
    status,
  });
}

/** As `checkAnswer`, for a body. Each S3 answers the ETag of what it has stored; a proxy that answers with a page has stored nothing. */
export function checkStored(answer: TargetAnswer, doing: string): void {
  checkAnswer(answer, doing);
  if (answer.headers.etag !== undefined || /<ETag>/.test(answer.text)) return;
  throw new DeliveryError('unavailable', `could not ${doing}: the answer ${answer.status} has no ETag`, {
    status: answer.status,
  });
}

const unavailable: ReadonlySet<string> = new Set(
  'InvalidAccessKeyId SignatureDoesNotMatch NoSuchBucket ExpiredToken InvalidToken InvalidTokenId RequestTimeTooSkewed SlowDown AuthorizationHeaderMalformed PermanentRedirect AllAccessDisabled AccountProblem'.split(
    ' ',
  ),
);
