import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { signRequest } from '../../protocol/sigv4/sign-request.ts';

export interface S3RegisterOptions {
  /** `http://HOST:PORT` of one server. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

interface RequestParts {
  /** As it is sent. */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

interface S3Requests {
  /** Resolves to undefined where no answer came. */
  readonly send: (method: string, key: string, more?: RequestParts) => Promise<Reply | undefined>;
  readonly close: () => void;
}

/** Sends requests to a bucket over one connection that is kept, each once. */
export function s3Requests(options: S3RegisterOptions): S3Requests {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const { host, hostname, port } = new URL(options.endpoint);

  async function send(method: string, key: string, more: RequestParts = {}): Promise<Reply | undefined> {
    const { query = '', headers = {}, body } = more;
    const rawPath = `/${options.bucket}/${key}`;
    const path = query === '' ? rawPath : `${rawPath}?${query}`;
    const length: Record<string, string> = body === undefined ? {} : { 'content-length': String(body.length) };
    const own = { host, ...length, ...headers };
    const signed = signRequest({ method, rawPath, rawQuery: query, headers: own }, options, {
      region: 'us-east-1',
      service: 's3',
      now: new Date(),
      payloadHash: 'UNSIGNED-PAYLOAD',
    });
    try {
      return await new Promise<Reply>((resolve, reject) => {
        const outgoing = request(
          { agent, hostname, port, method, path, headers: { ...own, ...signed } },
          (incoming) => {
            buffer(incoming).then(
              (bytes) => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: bytes }),
              reject,
            );
          },
        );
        outgoing.on('error', reject);
        outgoing.end(body);
      });
    } catch {
      return undefined;
    }
  }

  return { send, close: () => agent.destroy() };
}
