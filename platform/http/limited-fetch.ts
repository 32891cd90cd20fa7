import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { createSecureContext, type SecureContext } from 'node:tls';
import { defaultAuthorities } from '../tls/default-authorities.ts';
import { timeoutSignal } from './timeout-signal.ts';

/**
 * The part of `fetch` that calls to providers and key stores need. `jose` and `openid-client` accept it as their custom fetch. It does not follow
 * redirects: a provider that redirects is configured with the wrong address.
 */
export type LimitedFetch = (url: string, init?: LimitedFetchInit) => Promise<Response>;

export interface LimitedFetchInit {
  readonly method?: string;
  readonly headers?: Headers | Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal | null;
  readonly redirect?: unknown;
}

export interface LimitedFetchOptions {
  /** CA certificates (PEM) to trust in addition to those of the system. */
  readonly ca?: string;
  /** The client certificate and its key (PEM). */
  readonly client?: { readonly cert: string | Buffer; readonly key: string | Buffer };
  /** The timeout of the whole call, including the response. Milliseconds. */
  readonly timeoutMs?: number;
  /** The maximum size of a response. Bytes. */
  readonly maxBytes?: number;
  /**
   * The time in milliseconds for which an idle connection is kept. Without it each call has its own connection, because a kept one may be
   * dead after a restart of the provider.
   */
  readonly keepMs?: number;
  /** True where the status alone says what became of the request. The body of the answer is not given, and none of its bounds is an error. */
  readonly statusAlone?: boolean;
}

const defaults = { timeoutMs: 10_000, maxBytes: 1024 * 1024 };

/**
 * Makes a fetch with limits on time and size and with its own CA, which the built-in one does not offer without another package. It rejects
 * with the error of the socket, `RangeError` for an answer that is too long, or the reason of the abort.
 */
export function createLimitedFetch(options: LimitedFetchOptions = {}): LimitedFetch {
  const { timeoutMs, maxBytes } = { ...defaults, ...options };
  const context = secureContextOf(options);
  const agents = options.keepMs === undefined ? undefined : agentsFor(options.keepMs);
  return async (url, init = {}) => {
    const timeout = timeoutSignal(timeoutMs);
    const signal = init.signal ? AbortSignal.any([timeout, init.signal]) : timeout;
    const answer = await send(new URL(url), init, { agents, secureContext: context(), signal });
    const reading = readBounded(answer, maxBytes, signal);
    const body = options.statusAlone === true ? await reading.then(noBytes, noBytes) : await reading;
    const status = answer.statusCode ?? 500;
    const bodiless = status === 204 || status === 205 || status === 304;
    return new Response(bodiless ? null : new Uint8Array(body), { status, headers: headersOf(answer) });
  };
}

const noBytes = () => Buffer.alloc(0);

/**
 * Makes the context once, with the first call: reading the authorities of the system took 100 ms in each. Returns undefined if the default
 * context is enough.
 */
function secureContextOf({ ca, client }: LimitedFetchOptions): () => SecureContext | undefined {
  let context: SecureContext | undefined;
  if (client === undefined) return ca === undefined ? () => undefined : () => (context ??= contextOfAuthority(ca));
  const authorities = ca === undefined ? {} : { ca: [...defaultAuthorities(), ca] };
  return () => (context ??= createSecureContext({ ...authorities, ...client }));
}

/** The last contexts by their own CA. A configuration that is read again mostly names the same one. */
const contexts = new Map<string, SecureContext>();
const maxContexts = 8;

function contextOfAuthority(ca: string): SecureContext {
  const context = contexts.get(ca) ?? createSecureContext({ ca: [...defaultAuthorities(), ca] });
  contexts.delete(ca);
  contexts.set(ca, context);
  for (const oldest of contexts.keys()) {
    if (contexts.size <= maxContexts) break;
    contexts.delete(oldest);
  }
  return context;
}

interface Agents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

/** Makes agents that do not keep the process alive. */
function agentsFor(keepMs: number): Agents {
  const options = { keepAlive: true, timeout: keepMs };
  return { http: new HttpAgent(options), https: new HttpsAgent(options) };
}

interface Way {
  readonly agents: Agents | undefined;
  readonly secureContext: SecureContext | undefined;
  readonly signal: AbortSignal;
}

function send(url: URL, init: LimitedFetchInit, { agents, secureContext, signal }: Way): Promise<IncomingMessage> {
  const body = bodyOf(init.body);
  const headers = new Headers(init.headers);
  if (init.body instanceof URLSearchParams && !headers.has('content-type')) {
    headers.set('content-type', 'application/x-www-form-urlencoded;charset=UTF-8');
  }
  if (body !== undefined) headers.set('content-length', String(body.length));
  const options = {
    method: init.method ?? 'GET',
    headers: Object.fromEntries(headers),
    signal,
    ...(secureContext === undefined ? {} : { secureContext }),
  };
  return new Promise((resolve, reject) => {
    const request =
      url.protocol === 'https:'
        ? httpsRequest(url, { ...options, agent: agents?.https ?? false })
        : httpRequest(url, { ...options, agent: agents?.http ?? false });
    request.once('response', resolve);
    // The listener stays for errors after the response began. The reader of the body reports those.
    request.on('error', (error) => reject(signal.aborted ? asError(signal.reason) : error));
    request.end(body);
  });
}

async function readBounded(answer: IncomingMessage, maxBytes: number, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw new RangeError(`the answer is longer than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    throw signal.aborted ? asError(signal.reason) : error;
  }
  return Buffer.concat(chunks);
}

function bodyOf(body: unknown): Buffer | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string') return Buffer.from(body);
  if (body instanceof URLSearchParams) return Buffer.from(body.toString());
  if (body instanceof Uint8Array) return Buffer.from(body);
  throw new TypeError('a provider is sent text, a form or bytes');
}

function headersOf(answer: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < answer.rawHeaders.length; at += 2) {
    headers.append(answer.rawHeaders[at] ?? '', answer.rawHeaders[at + 1] ?? '');
  }
  return headers;
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
