import type { SecretClientOptions } from '@azure/keyvault-secrets';
import type { Remote, RemoteAnswer, RemoteRequest } from '../remote/remote.ts';
import { KeyError } from '../keystore.ts';

type HttpClient = NonNullable<SecretClientOptions['httpClient']>;
type PipelineRequest = Parameters<HttpClient['sendRequest']>[0];
type PipelineResponse = Awaited<ReturnType<HttpClient['sendRequest']>>;
type HttpHeaders = PipelineResponse['headers'];

/** Options of Azure's libraries: `Remote` alone retries, and no redirect is followed. */
export const withoutRetries = { retryOptions: { maxRetries: 0 }, redirectOptions: { maxRetries: 0 } } as const;

/**
 * The HTTP transport of Azure's libraries. It keeps the answers: an error of the libraries has at most the status, and not whether an
 * earlier attempt may have succeeded.
 */
export class AzureTransport implements HttpClient {
  readonly #remote: Remote;
  readonly #of: string;
  readonly #answers = new WeakMap<object, RemoteAnswer>();
  last: RemoteAnswer | KeyError | undefined;

  /** `of` names the service in errors. */
  constructor(remote: Remote, of: string) {
    this.#remote = remote;
    this.#of = of;
  }

  async sendRequest(request: PipelineRequest): Promise<PipelineResponse> {
    const headers = request.headers.toJSON();
    // Answers are small, and `Remote` does not decompress.
    delete headers['accept-encoding'];
    const { body } = request;
    try {
      const answer = await this.#remote.ask({
        method: request.method as RemoteRequest['method'],
        url: request.url,
        headers,
        of: this.#of,
        ...(typeof body === 'string' ? { body } : {}),
      });
      this.#answers.set(request, answer);
      this.last = answer;
      return { request, status: answer.status, headers: headersOf(answer.headers), bodyAsText: answer.text };
    } catch (error) {
      if (error instanceof KeyError) this.last = error;
      throw error;
    }
  }

  /** Returns the answer behind an error of the libraries. */
  answerBehind(error: unknown): RemoteAnswer | undefined {
    const request = requestOf(error);
    return request === undefined ? undefined : this.#answers.get(request);
  }
}

/** Reports whether the failed request had a token. */
export function carriedToken(error: unknown): boolean {
  return requestOf(error)?.headers.has('authorization') === true;
}

function requestOf(error: unknown): PipelineRequest | undefined {
  return error instanceof Error && 'request' in error ? (error.request as PipelineRequest | undefined) : undefined;
}

function headersOf(headers: Headers): HttpHeaders {
  return {
    get: (name) => headers.get(name) ?? undefined,
    has: (name) => headers.has(name),
    set: (name, value) => headers.set(name, String(value)),
    delete: (name) => headers.delete(name),
    toJSON: () => Object.fromEntries(headers),
    [Symbol.iterator]: () => headers[Symbol.iterator](),
  };
}
