import { createHash } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { readErrorDocument } from '../../protocol/s3/error-document.ts';
import { signRequest } from '../../protocol/sigv4/sign-request.ts';

/** A tenant's S3 API, as its root user. */
export interface S3Endpoint {
  /** HOST:PORT */
  readonly address: string;
  readonly tls: boolean;
  /** PEM of the authorities that its certificate is checked against; the system's by default. */
  readonly ca?: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

export interface S3Request {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  readonly bucket: string;
  /** `policy`, `tagging`; none for the bucket itself. */
  readonly subresource?: string;
  readonly body?: string;
}

/** An answer that is not 2xx. `code` is S3's, or `HTTP 502` where a proxy answered. */
export class S3Refusal extends Error {
  override readonly name = 'S3Refusal';
  readonly code: string;
  readonly status: number;

  constructor(code: string, status: number, message: string) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** No answer came. */
export class S3Unreachable extends Error {
  override readonly name = 'S3Unreachable';
}

/** Milliseconds until the whole answer is there. */
const timeoutMs = 10_000;
/** Bytes; a policy has 20 KiB. */
const maxAnswer = 1024 * 1024;

/** Any region does where a store is bound to none; one that is bound refuses with the one it wants. */
const defaultRegion = 'us-east-1';

/** Sends one request and resolves with the text of its answer. Errors with `S3Refusal` and `S3Unreachable`. */
export async function sendS3(endpoint: S3Endpoint, request: S3Request, now: () => Date): Promise<string> {
  try {
    return await attempt(endpoint, request, now(), defaultRegion);
  } catch (error) {
    const region = error instanceof WrongRegion ? error.region : undefined;
    if (region === undefined) throw error;
    return attempt(endpoint, request, now(), region);
  }
}

class WrongRegion extends S3Refusal {
  readonly region: string;
  constructor(status: number, message: string, region: string) {
    super('AuthorizationHeaderMalformed', status, message);
    this.region = region;
  }
}

async function attempt(endpoint: S3Endpoint, request: S3Request, now: Date, region: string): Promise<string> {
  const { status, text } = await exchange(endpoint, request, now, region);
  if (status >= 200 && status < 300) return text;
  const document = readErrorDocument(text);
  const wanted = document?.fields['Region'];
  if (wanted !== undefined && wanted !== '' && wanted !== region)
    throw new WrongRegion(status, document?.message ?? '', wanted);
  throw new S3Refusal(document?.code ?? `HTTP ${status}`, status, document?.message ?? `status ${status}`);
}

async function exchange(
  { address, tls, ca, accessKey, secretKey }: S3Endpoint,
  { method, bucket, subresource, body = '' }: S3Request,
  now: Date,
  region: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const query = subresource === undefined ? '' : `${subresource}=`;
  const path = `/${bucket}`;
  const headers: Record<string, string> = { host: address, 'content-length': String(Buffer.byteLength(body)) };
  const payloadHash = createHash('sha256').update(body).digest('hex');
  const signed = signRequest(
    { method, rawPath: path, rawQuery: query, headers },
    { accessKey, secretKey },
    { region, service: 's3', now, payloadHash },
  );
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const url = `${tls ? 'https' : 'http'}://${address}${path}${query === '' ? '' : `?${query}`}`;
  const options = {
    method,
    headers: { ...headers, ...signed },
    agent: false,
    signal: AbortSignal.timeout(timeoutMs),
    ...(tls && ca !== undefined ? { ca } : {}),
  } as const;
  try {
    const request = tls ? httpsRequest(url, options, resolve) : httpRequest(url, options, resolve);
    request.on('error', reject);
    request.end(body);
    const answer = await promise;
    return { status: answer.statusCode ?? 0, text: await readText(answer) };
  } catch (error) {
    const { name, message } = error as Error;
    const reason = name === 'TimeoutError' || name === 'AbortError' ? `no answer within ${timeoutMs} ms` : message;
    throw new S3Unreachable(reason, { cause: error });
  }
}

async function readText(answer: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of answer as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > maxAnswer) throw new Error(`the answer is larger than ${maxAnswer} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}
