import { AsyncLocalStorage } from 'node:async_hooks';
import { KeyError } from '../keystore.ts';
import type { Remote, RemoteAnswer, RemoteRequest } from '../remote/remote.ts';

/** The events during a call of Google's client. */
interface Trace {
  /** The last answer of the service. */
  answer?: RemoteAnswer;
  failure?: KeyError;
}

/**
 * The HTTP transport of Google's client. It uses `Remote`, which alone retries, and keeps the answers by call: an error of the client hides
 * the status, and whether an earlier attempt may have succeeded.
 */
export class GcpTransport {
  readonly #remote: Remote;
  readonly #endpoint: string;
  readonly #of: string;
  readonly #traces = new AsyncLocalStorage<Trace>();

  /** `of` names the service in errors. */
  constructor(remote: Remote, endpoint: string, of: string) {
    this.#remote = remote;
    this.#endpoint = new URL(endpoint).origin;
    this.#of = of;
  }

  /** Runs a call, and on a failure returns its events. */
  async trace<T>(call: () => Promise<T>): Promise<{ value: T } | (Trace & { error: unknown })> {
    const trace: Trace = {};
    try {
      return { value: await this.#traces.run(trace, call) };
    } catch (error) {
      return { ...trace, error };
    }
  }

  readonly fetch: typeof fetch = async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const isForKeys = url.origin === this.#endpoint;
    const trace = this.#traces.getStore();
    const { method = 'GET', body } = init;
    const text = bodyOf(body);
    try {
      const answer = await this.#remote.ask({
        method: method as RemoteRequest['method'],
        url: url.href,
        headers: Object.fromEntries(new Headers(init.headers)),
        of: isForKeys ? this.#of : `Google's login at ${url.origin}`,
        body: text,
      });
      if (trace !== undefined && isForKeys) trace.answer = answer;
      const { status, headers } = answer;
      return new Response(status === 204 ? null : answer.text, { status, headers });
    } catch (error) {
      if (trace !== undefined && error instanceof KeyError) trace.failure = error;
      throw error;
    }
  };
}

function bodyOf(body: unknown): string | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  if (body instanceof Uint8Array) return Buffer.from(body).toString('utf8');
  throw new TypeError('a vault is sent text');
}
