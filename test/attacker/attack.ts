import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';

/** Whether the names of a request are those of what is there. */
export type Presence = 'there' | 'never';

/** A request of an attacker before it is signed. */
export interface Attack {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A row of a route table, with the request of it for names that are there or never were. */
export interface Row {
  readonly api: 's3' | 'control' | 'admin' | 'console' | 'sts';
  readonly name: string;
  readonly attack: (presence: Presence) => Attack;
  /** What the caller may do by default, for the own account. */
  readonly own?: boolean;
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Whether the server asked for the body. */
  readonly awaited: boolean;
}

/** Returns the query as the signature covers it. */
export function queryOf({ query }: Pick<Attack, 'query'>): string {
  return Object.entries(query)
    .map(([name, value]) => (value === '' ? name : `${name}=${encodeURIComponent(value)}`))
    .join('&');
}

/**
 * Sends a request. With `asked` the body goes out once the server asks for it, which the S3 listener does when an operation begins to read;
 * with `never` it does not go out at all, so that a server that waits for it gives no answer.
 */
export function send(
  server: string,
  { method, path, headers, body, ...attack }: Attack,
  when: 'asked' | 'at once' | 'never',
): Promise<Answered> {
  const { promise, resolve, reject } = Promise.withResolvers<Answered>();
  const query = queryOf(attack);
  let awaited = false;
  const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const request = httpRequest(
    new URL(`${server}${path}${query === '' ? '' : `?${query}`}`),
    {
      method,
      agent: false,
      headers: { ...headers, ...length, ...(when === 'asked' && body !== '' && { expect: '100-continue' }) },
    },
    (response) => {
      const chunks: Buffer[] = [];
      const answer = () => {
        request.destroy();
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, awaited });
      };
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        // An endless answer is one too.
        if (response.headers['content-type'] === 'application/x-ndjson') answer();
      });
      response.on('end', answer);
    },
  );
  request.on('error', reject);
  request.on('continue', () => {
    awaited = true;
    request.end(body);
  });
  if (body === '' || when === 'at once') request.end(body);
  else request.flushHeaders();
  return promise;
}
