import { createHash } from 'node:crypto';
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { signRequest } from '../../../protocol/sigv4/sign-request.ts';
import type { TenantAccess } from './controller.ts';
import { ResponseError } from '../../../protocol/response-error.ts';

/** The address of a tenant's S3, admin and STS APIs, and the caller's credentials. */
export interface TenantEndpoint {
  /** HOST:PORT */
  readonly address: string;
  readonly tls: boolean;
  /** PEM of the authorities that its certificate is checked with; those of the system by default. */
  readonly ca?: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

/** Returns the endpoint with the credentials of the tenant's root user. */
export function endpointOf({ tenant, address, rootUser, rootPassword, ca }: TenantAccess): TenantEndpoint {
  return {
    address,
    tls: tenant.spec.tls !== undefined,
    ca,
    accessKey: rootUser,
    secretKey: rootPassword,
  };
}

export interface SignedCall {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  readonly path: string;
  /** The query of the URL, without the question mark. */
  readonly query: string;
  readonly body: string | Buffer;
  readonly contentType?: string;
  /** Further headers, with names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly service: 's3' | 'sts';
  readonly region: string;
}

interface SignedAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Milliseconds for the whole answer. */
const timeoutMs = 10_000;
/** Bytes. A policy has up to 64 KiB; a list of claims has all bound claims. */
const maxResponseBytes = 8 * 1024 * 1024;

/** Sends one request and answers the response of any status. Errors with `ResponseError`, code `Unreachable`, when no answer comes. */
export async function exchange(
  { address, tls, ca, accessKey, secretKey }: TenantEndpoint,
  { method, path, query, body, contentType, service, region, ...call }: SignedCall,
  now: Date,
): Promise<SignedAnswer> {
  const headers: Record<string, string> = {
    ...call.headers,
    host: address,
    'content-length': String(Buffer.byteLength(body)),
    ...(contentType === undefined ? {} : { 'content-type': contentType }),
  };
  const payloadHash = createHash('sha256').update(body).digest('hex');
  const signed = signRequest(
    { method, rawPath: path, rawQuery: query, headers },
    { accessKey, secretKey },
    { region, service, now, payloadHash },
  );
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const url = `${tls ? 'https' : 'http'}://${address}${path}${query === '' ? '' : `?${query}`}`;
  const options = {
    method,
    headers: { ...headers, ...signed },
    agent: false,
    signal: AbortSignal.timeout(timeoutMs),
    ca: tls ? ca : undefined,
  } as const;
  try {
    const request = tls ? httpsRequest(url, options, resolve) : httpRequest(url, options, resolve);
    request.on('error', reject);
    request.end(body);
    const answer = await promise;
    return { status: answer.statusCode ?? 0, headers: answer.headers, body: await readBody(answer) };
  } catch (error) {
    const { name, message } = error as Error;
    const reason = name === 'TimeoutError' || name === 'AbortError' ? `no answer within ${timeoutMs} ms` : message;
    throw new ResponseError('Unreachable', reason, { cause: error });
  }
}

async function readBody(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxResponseBytes) throw new Error(`the answer is larger than ${maxResponseBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
