import { percentEncode, percentEncodePath } from '../../protocol/uri/percent-encoding.ts';
import type { Alias } from '../config/aliases.ts';
import type { Agent, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Agent as HttpsAgent } from 'node:https';
import { readErrorDocument } from '../../protocol/s3/responses.ts';
import { signParts } from '../../protocol/sigv4/sign-request.ts';
import { type BodySink, receiveDirectly } from './connection/direct-body.ts';
import { exchange, type Outgoing, traceRequest, traceResponse, type Trace } from './connection/exchange.ts';
import type { RateLimit } from './connection/rate-limit.ts';
import { prepareBody, type RequestBody } from './request-body.ts';
import { defaultRetries, retrying, type Retries } from './retry.ts';
import { errorOfStatus } from './error-of-status.ts';
import { ResponseError } from '../../protocol/response-error.ts';

/** The parameters of a query. A list repeats the parameter. */
export type Query = Readonly<Record<string, string | number | undefined | readonly string[]>>;

interface Address {
  readonly host: string;
  readonly rawPath: string;
  readonly rawQuery: string;
}

/** Returns the address of a bucket or key: in the path, or on AWS by a host of the bucket. */
export function addressOf(alias: Alias, bucket: string, key: string, query: Query): Address {
  const { host } = new URL(alias.url);
  const rawQuery = writeQuery(query);
  const encodedKey = percentEncodePath(key);
  if (bucket === '') return { host, rawPath: `/${encodedKey}`, rawQuery };
  if (usesBucketHost(alias, bucket, host)) return { host: `${bucket}.${host}`, rawPath: `/${encodedKey}`, rawQuery };
  // MinIO needs the slash to recognize a bucket.
  return { host, rawPath: `/${bucket}/${encodedKey}`, rawQuery };
}

/** A name with a dot does not match the wildcard certificate of the host. */
function usesBucketHost(alias: Alias, bucket: string, host: string): boolean {
  if (alias.path === 'on' || (bucket.includes('.') && alias.url.startsWith('https:'))) return false;
  return alias.path === 'off' || /(^|\.)amazonaws\.com(\.cn)?(:\d+)?$/.test(host);
}

function writeQuery(query: Query): string {
  return Object.entries(query)
    .flatMap(([name, value]) => [value ?? []].flat().map((one) => [name, String(one)] as const))
    .map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`)
    .join('&');
}

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  readonly bucket?: string;
  readonly key?: string;
  /** A percent-encoded path of the admin API or a health check, instead of bucket and key. */
  readonly path?: string;
  readonly query?: Query;
  /** Names are in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: RequestBody;
  /** A token to send instead of a signature. */
  readonly bearer?: string;
  /** `empty` for the admin API, which has no region. */
  readonly region?: 'empty';
  readonly retries?: Retries;
}

export interface S3Response {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The caller must read or destroy it. */
  readonly body: Readable;
}

export interface ClientOptions {
  readonly alias: Alias;
  /** Makes and keeps the connections; an agent of `node:https` for an https URL. */
  readonly agent: Agent | HttpsAgent;
  readonly signal: AbortSignal;
  readonly region?: string | undefined;
  readonly trace?: Trace | undefined;
  /** Headers of each request. Names are in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers of each request that reads. Names are in lower case. */
  readonly readHeaders?: Readonly<Record<string, string>> | undefined;
  readonly limits?: RateLimits | undefined;
  readonly now?: () => Date;
  readonly retries?: Retries;
  /** Gets each failure after which a request is sent again, and the number of attempts so far. */
  readonly onRetry?: (error: unknown, attempt: number) => void;
  /** Returns the alias with credentials that have not expired. It is called before each request. */
  readonly renew?: (() => Promise<Alias>) | undefined;
}

/** The limits of the bodies that a command sends and receives. */
export interface RateLimits {
  readonly upload?: RateLimit | undefined;
  readonly download?: RateLimit | undefined;
}

const maxErrorBytes = 65_536;
const maxBodyBytes = 64 * 1_024 * 1_024;

/** Sends signed requests to one server over persistent connections, and retries transient failures. */
export class S3Client {
  readonly signal: AbortSignal;
  #alias: Alias;
  readonly #options: ClientOptions;
  readonly #secure: boolean;
  /** Regions by bucket, learned from refused requests. */
  readonly #regions = new Map<string, string>();

  constructor(options: ClientOptions) {
    this.#alias = options.alias;
    this.signal = options.signal;
    this.#options = options;
    this.#secure = options.alias.url.startsWith('https:');
  }

  get alias(): Alias {
    return this.#alias;
  }

  /** Returns a successful answer before its body is read. @throws ResponseError, or network errors of Node */
  async send(request: S3Request): Promise<S3Response> {
    const { onRetry } = this.#options;
    return retrying(this.#retries(request), this.signal, (attempt) => this.#attempt(request, attempt), onRetry);
  }

  /** Like `send`, with the body as text. */
  async text(request: S3Request): Promise<{ readonly headers: IncomingHttpHeaders; readonly text: string }> {
    const { headers, bytes } = await this.bytes(request);
    return { headers, text: bytes.toString('utf8') };
  }

  /** Like `send`, with the body in memory. */
  async bytes(request: S3Request): Promise<{ readonly headers: IncomingHttpHeaders; readonly bytes: Buffer }> {
    // Reading is part of the attempt, so that an interrupted body is requested again.
    const read = async (attempt: number) => {
      const { headers, body } = await this.#attempt(request, attempt);
      return { headers, bytes: await readAll(body, maxBodyBytes) };
    };
    return retrying(this.#retries(request), this.signal, read, this.#options.onRetry);
  }

  /**
   * Receives a body of a known length without a copy, and returns how many of its bytes the sink took: none where the answer is another one.
   * The caller asks for the rest by `send`. Nothing is received in this way with `--debug` or a limit of the rate.
   */
  async receive(request: S3Request, expected: Parameters<typeof receiveDirectly>[3], sink: BodySink): Promise<number> {
    const { trace, limits, renew, agent } = this.#options;
    if (trace !== undefined || limits?.download !== undefined) return 0;
    if (renew !== undefined) this.#alias = await renew();
    return receiveDirectly(this.#sign(request), agent, this.signal, expected, sink);
  }

  close(): void {
    this.#options.agent.destroy();
  }

  #retries(request: S3Request): Retries {
    return request.retries ?? this.#options.retries ?? defaultRetries;
  }

  async #attempt(request: S3Request, attempt: number): Promise<S3Response> {
    try {
      return await this.#once(request, attempt);
    } catch (error) {
      if (!this.#learnRegion(request, error)) throw error;
      return this.#once(request, attempt);
    }
  }

  async #once(request: S3Request, attempt: number): Promise<S3Response> {
    const { trace, renew } = this.#options;
    if (renew !== undefined) this.#alias = await renew();
    const outgoing = this.#sign(request);
    if (trace) traceRequest(trace, outgoing);
    const started = performance.now();
    const response = await exchange(outgoing, this.#options.agent, this.signal);
    if (trace) traceResponse(trace, response, performance.now() - started);
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) return { status, headers: response.headers, body: this.#paced(response) };
    throw await readError(response, status, attempt);
  }

  #paced(response: IncomingMessage): Readable {
    return this.#options.limits?.download?.paceStream(response, this.signal) ?? response;
  }

  #pacedUpload(body: NonNullable<Outgoing['body']>): NonNullable<Outgoing['body']> {
    return this.#options.limits?.upload?.pace(body, this.signal) ?? body;
  }

  /** The headers of each request of a method. */
  #headersOf(method: S3Request['method']): Readonly<Record<string, string>> {
    const { headers, readHeaders } = this.#options;
    return method === 'GET' || method === 'HEAD' ? { ...headers, ...readHeaders } : { ...headers };
  }

  #sign(request: S3Request): Outgoing {
    const { alias } = this;
    const { bucket = '', key = '', query = {}, method } = request;
    const address = addressOf(alias, bucket, key, query);
    const anonymous = alias.accessKey === '';
    const body = prepareBody(request.body, this.#secure, anonymous);
    const rawPath = request.path ?? address.rawPath;
    const headers: Record<string, string> = {
      ...this.#headersOf(method),
      host: address.host,
      ...request.headers,
      ...body.headers,
    };
    if (request.body !== undefined && !(request.body instanceof Uint8Array)) headers['expect'] = '100-continue';
    const encoding = request.headers?.['content-encoding'];
    if (encoding !== undefined && body.headers['content-encoding'] !== undefined) {
      headers['content-encoding'] = `aws-chunked,${encoding}`;
    }
    const signed = signParts({ method, rawPath, rawQuery: address.rawQuery, headers }, alias, {
      region: request.region === 'empty' ? '' : (this.#regions.get(bucket) ?? this.#options.region ?? 'us-east-1'),
      service: 's3',
      now: this.#options.now?.() ?? new Date(),
      payloadHash: body.payloadHash,
    });
    const sent = body.send?.(signed);
    return {
      secure: this.#secure,
      host: address.host,
      method,
      target: address.rawQuery === '' ? rawPath : `${rawPath}?${address.rawQuery}`,
      headers: { ...headers, ...bearing(request.bearer, anonymous ? {} : signed.headers), 'user-agent': 'coffer' },
      body: sent && this.#pacedUpload(sent),
    };
  }

  /** Reports whether a refused request names another region for the bucket. */
  #learnRegion(request: S3Request, error: unknown): boolean {
    if (!(error instanceof ResponseError) || request.region === 'empty') return false;
    const region = error.fields['Region'] ?? error.fields['x-amz-bucket-region'];
    const bucket = request.bucket ?? '';
    if (region === undefined || region === '' || this.#regions.get(bucket) === region) return false;
    this.#regions.set(bucket, region);
    return true;
  }
}

/** The token, or else the signature. */
function bearing(token: string | undefined, proof: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return token === undefined ? proof : { authorization: `Bearer ${token}` };
}

async function readError(response: IncomingMessage, status: number, attempts: number): Promise<ResponseError> {
  const body = await readAll(response, maxErrorBytes).catch(() => Buffer.alloc(0));
  const document = readErrorDocument(body) ?? readJsonError(body);
  const [code, message] = errorOfStatus(status, response.headers);
  const region = response.headers['x-amz-bucket-region'];
  const { etag } = response.headers;
  const fields: Record<string, string> = {
    ...(typeof region === 'string' && { 'x-amz-bucket-region': region }),
    ...(etag !== undefined && { etag }),
    ...replicationOf(response.headers),
    ...document?.fields,
  };
  const text = document?.message || message;
  // The message alone does not say which endpoint it means.
  const place = [301, 302, 307, 308].includes(status) ? (fields['Endpoint'] ?? response.headers.location) : undefined;
  const said = place === undefined || place === '' ? text : `${text.replace(/\.$/, '')}: ${place}`;
  return new ResponseError(document?.code || code, said, { status, fields, attempts });
}

/** A delete marker is answered with 405: MinIO has its state of replication in a header of its own. */
function replicationOf(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const name = 'x-amz-replication-status';
  const status = headers[name] ?? headers['x-minio-replication-deletemarker-status'];
  return typeof status === 'string' ? { [name]: status } : {};
}

/** Parses an error of the admin API. */
function readJsonError(body: Buffer): { code: string; message: string; fields: Record<string, string> } | undefined {
  try {
    const document: unknown = JSON.parse(body.toString('utf8'));
    if (typeof document !== 'object' || document === null) return undefined;
    const fields = Object.fromEntries(Object.entries(document).map(([name, value]) => [name, String(value)]));
    return { code: fields['Code'] ?? '', message: fields['Message'] ?? '', fields };
  } catch {
    return undefined;
  }
}

async function readAll(body: Readable, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > limit) throw new Error(`The answer of the server is longer than ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}
