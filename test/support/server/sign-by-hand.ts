import { createHash, createHmac } from 'node:crypto';
import type { ServerAccess } from './start-server.ts';

/**
 * Signature Version 4 written once more, from its documentation alone, so that tests of raw requests do not verify the product's
 * signatures by the product's own code.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
interface HandSigned {
  /** The request's head, with the blank line. */
  readonly head: string;
  /** The framing of one chunk; an empty one ends the body. */
  chunk(bytes: Buffer): Buffer;
  /** The trailer after the last chunk, with its signature where chunks are signed. */
  trailer(lines: readonly string[]): string;
}

const hash = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest();

export function signByHand(
  server: ServerAccess,
  request: {
    readonly method: string;
    readonly path: string;
    readonly query?: string;
    /** Names in lower case. */
    readonly headers?: Readonly<Record<string, string>>;
    /** The value of x-amz-content-sha256. */
    readonly payload: string;
    readonly secretKey?: string;
    readonly now?: Date;
    /** How the characters of headers become bytes that are signed; the head must be sent the same way. UTF-8 by default. */
    readonly encoding?: BufferEncoding;
  },
): HandSigned {
  const time = (request.now ?? new Date()).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const scope = `${time.slice(0, 8)}/us-east-1/s3/aws4_request`;
  const headers: Record<string, string> = {
    host: new URL(server.s3).host,
    'x-amz-content-sha256': request.payload,
    'x-amz-date': time,
    ...request.headers,
  };
  const names = Object.keys(headers).sort();
  const canonical = [
    request.method,
    request.path,
    request.query ?? '',
    ...names.map((name) => `${name}:${headers[name] ?? ''}`),
    '',
    names.join(';'),
    request.payload,
  ].join('\n');
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${request.secretKey ?? server.secretKey}`);
  const sign = (text: string) => hmac(key, text).toString('hex');
  const seed = sign(
    ['AWS4-HMAC-SHA256', time, scope, hash(Buffer.from(canonical, request.encoding ?? 'utf8'))].join('\n'),
  );
  const authorization =
    `AWS4-HMAC-SHA256 Credential=${server.accessKey}/${scope}, ` +
    `SignedHeaders=${names.join(';')}, Signature=${seed}`;
  const target = request.query === undefined ? request.path : `${request.path}?${request.query}`;
  const lines = [...names.map((name) => `${name}: ${headers[name] ?? ''}`), `authorization: ${authorization}`];
  let previous = seed;
  return {
    head: `${request.method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\nconnection: close\r\n\r\n`,
    chunk(bytes) {
      const parts = ['AWS4-HMAC-SHA256-PAYLOAD', time, scope, previous, hash(''), hash(bytes)];
      previous = sign(parts.join('\n'));
      const signature = request.payload.startsWith('STREAMING-AWS4') ? `;chunk-signature=${previous}` : '';
      const end = bytes.length === 0 ? '' : '\r\n';
      return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}${signature}\r\n`), bytes, Buffer.from(end)]);
    },
    trailer(lines) {
      const text = lines.map((line) => `${line}\n`).join('');
      const signature = sign(['AWS4-HMAC-SHA256-TRAILER', time, scope, previous, hash(text)].join('\n'));
      const signed = request.payload.startsWith('STREAMING-AWS4') ? [`x-amz-trailer-signature:${signature}`] : [];
      return [...lines, ...signed].map((line) => `${line}\r\n`).join('') + '\r\n';
    },
  };
}
