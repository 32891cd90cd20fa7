import { Agent as HttpAgent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Connection } from './connection.ts';
import { KubeError } from './kube-api.ts';
import { statusError } from './response.ts';

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** `application/json` by default. */
  readonly contentType?: string;
  readonly accept?: string;
  /** Milliseconds for the whole call, or without a byte of a stream. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Calls at once; more calls wait for a connection. A start with hundreds of tenants must not overload the API server. */
const maxCalls = 16;

/** HTTP to one API server with keep-alive, time limits, and a KubeError for every answer that is not 2xx. */
export class HttpTransport {
  readonly #connection: Connection;
  readonly #userAgent: string;
  readonly #calls: HttpAgent;
  /** Watches hold their connections, so they have their own agent. */
  readonly #streams: HttpAgent;
  readonly #request: typeof httpRequest;

  constructor(connection: Connection, userAgent: string) {
    this.#connection = connection;
    this.#userAgent = userAgent;
    const tls = connection.server.protocol === 'https:';
    const options = { keepAlive: true, keepAliveMsecs: 30_000, ...connection.tls };
    const agent = (sockets: { readonly maxSockets?: number }) =>
      tls ? new HttpsAgent({ ...options, ...sockets }) : new HttpAgent({ ...options, ...sockets });
    this.#calls = connection.agent ?? agent({ maxSockets: maxCalls });
    this.#streams = connection.agent ?? agent({});
    this.#request = tls ? httpsRequest : httpRequest;
  }

  /** Returns the body of a 2xx answer. Errors with a `KubeError`. */
  async call(call: Call): Promise<string> {
    try {
      return await this.#callOnce(call);
    } catch (error) {
      // The server closed an idle connection while the request was on its way. Every method but POST may be repeated.
      if (call.method === 'POST' || !isStale(error)) throw error;
      return this.#callOnce(call);
    }
  }

  /** Yields the chunks of the body until the server ends it. Errors with a `KubeError`. */
  async *stream(call: Call): AsyncGenerator<Uint8Array, void, undefined> {
    const limit = new TimeLimit(call);
    try {
      const response = await this.#open(call, this.#streams, limit);
      for await (const chunk of response as AsyncIterable<Uint8Array>) {
        limit.restart();
        yield chunk;
        // The time that the consumer takes does not count as inactivity of the server.
        limit.restart();
      }
    } catch (error) {
      throw limit.explain(error);
    } finally {
      limit.end();
    }
  }

  close(): void {
    this.#calls.destroy();
    this.#streams.destroy();
  }

  async #callOnce(call: Call): Promise<string> {
    const limit = new TimeLimit(call);
    try {
      return await text(await this.#open(call, this.#calls, limit));
    } catch (error) {
      throw limit.explain(error);
    } finally {
      limit.end();
    }
  }

  async #open(call: Call, agent: HttpAgent, limit: TimeLimit): Promise<IncomingMessage> {
    const body = call.body === undefined ? undefined : JSON.stringify(call.body);
    const authorization = await this.#connection.authorization();
    const url = new URL(this.#connection.server);
    url.pathname = url.pathname.replace(/\/$/, '') + call.path;
    for (const [name, value] of Object.entries(call.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, value);
    }
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const request: ClientRequest = this.#request(url, {
      method: call.method,
      agent,
      headers: {
        accept: call.accept ?? 'application/json',
        'user-agent': this.#userAgent,
        ...(authorization === undefined ? {} : { authorization }),
        ...(body === undefined
          ? {}
          : { 'content-type': call.contentType ?? 'application/json', 'content-length': Buffer.byteLength(body) }),
      },
    });
    limit.applyTo(request);
    // For a call that waited for a connection, Node does not set `reusedSocket`.
    let isKept = false;
    request.once('socket', ({ bytesRead }) => {
      isKept = bytesRead > 0;
    });
    request.once('response', resolve);
    request.on('error', (error) => {
      const { code } = error as NodeJS.ErrnoException;
      if (!isKept || code !== 'ECONNRESET') return reject(error);
      const options = { cause: error, causes: [staleConnection] };
      reject(new KubeError(undefined, 'Unreachable', 'the API server closed the connection', undefined, options));
    });
    request.end(body);
    const response = await promise;
    const { statusCode = 0 } = response;
    if (statusCode >= 200 && statusCode < 300) return response;
    throw statusError(`${call.method} ${call.path}`, statusCode, await text(response), response.headers['retry-after']);
  }
}

/** The cause in the error of an idle connection that the server closed. */
const staleConnection = 'StaleConnection';

function isStale(error: unknown): boolean {
  return error instanceof KubeError && error.causes.includes(staleConnection);
}

/** Ends a request at its timeout or when its signal aborts, and keeps the reason for the error message. */
class TimeLimit {
  readonly #call: Call;
  readonly #timer: NodeJS.Timeout;
  readonly #onAbort = () => this.#stop('aborted');
  #stopped: 'timeout' | 'aborted' | undefined;
  #request: ClientRequest | undefined;

  constructor(call: Call) {
    this.#call = call;
    this.#timer = setTimeout(() => this.#stop('timeout'), call.timeoutMs);
    call.signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (call.signal?.aborted === true) this.#stopped = 'aborted';
  }

  applyTo(request: ClientRequest): void {
    this.#request = request;
    if (this.#stopped !== undefined) request.destroy(new Error(this.#stopped));
  }

  restart(): void {
    this.#timer.refresh();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#call.signal?.removeEventListener('abort', this.#onAbort);
  }

  explain(error: unknown): unknown {
    const what = `${this.#call.method} ${this.#call.path}`;
    switch (this.#stopped) {
      case 'timeout':
        return new KubeError(undefined, 'Timeout', `${what}: no answer within ${this.#call.timeoutMs} ms`);
      case 'aborted':
        return new KubeError(undefined, 'Aborted', `${what}: given up`);
      case undefined:
        break;
      default:
        this.#stopped satisfies never;
    }
    if (error instanceof KubeError) return error;
    const message = error instanceof Error ? error.message : String(error);
    return new KubeError(undefined, 'Unreachable', `${what}: ${message}`, undefined, { cause: error });
  }

  #stop(why: 'timeout' | 'aborted'): void {
    this.#stopped ??= why;
    this.#request?.destroy(new Error(why));
  }
}

async function text(response: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response as AsyncIterable<Uint8Array>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
