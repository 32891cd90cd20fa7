import type { Remote, RemoteAnswer, RemoteRequest } from '../remote/remote.ts';
import { isThrottled } from './aws-errors.ts';

/** What is needed of the client's request. */
interface HttpRequest {
  readonly method: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** What AWS's client sends its requests by: `Remote`, which alone tries again. */
export class AwsTransport {
  readonly #remote: Remote;
  readonly #of: string;
  readonly #answers = new WeakMap<object, RemoteAnswer>();

  /** `of` is whose answers are awaited, for errors. */
  constructor(remote: Remote, of: string) {
    this.#remote = remote;
    this.#of = of;
  }

  async handle({ method, protocol, hostname, port, path, headers, body }: HttpRequest) {
    const answer = await this.#remote.ask({
      method: method as RemoteRequest['method'],
      url: `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`,
      headers,
      of: this.#of,
      isTransient: isThrottled,
      ...(body === undefined ? {} : { body: textOf(body as string | Uint8Array) }),
    });
    const response = {
      statusCode: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: Buffer.from(answer.text, 'utf8'),
    };
    this.#answers.set(response, answer);
    return { response };
  }

  /** The answer that an error of the client is about: it alone tells whether an earlier attempt may have been carried out. */
  answerBehind(error: unknown): RemoteAnswer | undefined {
    const response = error instanceof Error && '$response' in error ? error.$response : undefined;
    return typeof response === 'object' && response !== null ? this.#answers.get(response) : undefined;
  }

  updateHttpClientConfig(): void {}

  httpHandlerConfigs(): object {
    return {};
  }
}

function textOf(body: string | Uint8Array): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body);
}
