import { createHash } from 'node:crypto';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { signRequest } from '../../../protocol/sigv4/sign-request.ts';
import type { TenantAccess } from './controller.ts';

/** An answer of a tenant's server that is not 2xx. `code` is the server's, or `HTTP 502` where a proxy answered. */
export class TenantRefusal extends Error {
  override readonly name: string = 'TenantRefusal';
  readonly code: string;
  readonly status: number;

  constructor(code: string, status: number, message: string) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** No answer came. */
export class TenantUnreachable extends Error {
  override readonly name = 'TenantUnreachable';
}

/** What the operator itself finds to be in the way; `reason` becomes that of the condition. */
export class DeclaredProblem extends Error {
  override readonly name = 'DeclaredProblem';
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The address of a tenant's S3, admin and STS APIs, and who asks there. */
export interface TenantEndpoint {
  /** HOST:PORT */
  readonly address: string;
  readonly tls: boolean;
  /** PEM of the authorities that its certificate is checked against; the system's by default. */
  readonly ca?: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

/** As the root user of the tenant. */
export function endpointOf({ tenant, address, rootUser, rootPassword, ca }: TenantAccess): TenantEndpoint {
  return {
    address,
    tls: tenant.spec.tls !== undefined,
    ...(ca === undefined ? {} : { ca }),
    accessKey: rootUser,
    secretKey: rootPassword,
  };
}

export interface SignedCall {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  readonly path: string;
  /** As it stands in the URL, without the question mark. */
  readonly query: string;
  readonly body: string | Buffer;
  readonly contentType?: string;
  readonly service: 's3' | 'sts';
  readonly region: string;
}

/** Milliseconds until the whole answer is there. */
const timeoutMs = 10_000;
/** Bytes; a policy has 64 KiB, and a list of claims has all that are bound. */
const maxResponseBytes = 8 * 1024 * 1024;

/** Sends one request and resolves with whatever is answered. Errors with `TenantUnreachable`. */
export async function exchange(
  { address, tls, ca, accessKey, secretKey }: TenantEndpoint,
  { method, path, query, body, contentType, service, region }: SignedCall,
  now: Date,
): Promise<{ readonly status: number; readonly body: Buffer }> {
  const headers: Record<string, string> = {
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
    ...(tls && ca !== undefined ? { ca } : {}),
  } as const;
  try {
    const request = tls ? httpsRequest(url, options, resolve) : httpRequest(url, options, resolve);
    request.on('error', reject);
    request.end(body);
    const answer = await promise;
    return { status: answer.statusCode ?? 0, body: await readBody(answer) };
  } catch (error) {
    const { name, message } = error as Error;
    const reason = name === 'TimeoutError' || name === 'AbortError' ? `no answer within ${timeoutMs} ms` : message;
    throw new TenantUnreachable(reason, { cause: error });
  }
}

async function readBody(answer: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of answer as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > maxResponseBytes) throw new Error(`the answer is larger than ${maxResponseBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
