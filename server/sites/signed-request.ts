import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type Agent, type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { type Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { timeoutText } from '../../platform/text/message-text.ts';
import { percentEncode } from '../../protocol/uri/percent-encoding.ts';
import { signRequest } from '../../protocol/sigv4/sign-request.ts';

export interface PeerCredentials {
  readonly accessKey: string;
  readonly secretKey: string;
}

interface SignedRequest {
  readonly method: 'GET' | 'PUT' | 'POST';
  /** The path below `/minio/admin/v3/`. */
  readonly call: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Signed too. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The whole body; `stream` for one that follows and is not signed. */
  readonly body: Buffer | 'stream';
  /** Kept connections by scheme. Without them the request has a connection of its own. */
  readonly agents?: { readonly http: Agent; readonly https: HttpsAgent };
  /** Milliseconds without traffic, after which the request ends with an error. */
  readonly idleMs: number;
  readonly signal?: AbortSignal;
}

/** Opens a request to the admin API of another server, signed by its credentials. The caller ends its body. */
export function signedRequest(endpoint: string, credentials: PeerCredentials, asked: SignedRequest): ClientRequest {
  const { method, call, query = {}, headers = {}, body, agents, idleMs, signal } = asked;
  const url = new URL(endpoint);
  const rawPath = `/minio/admin/v3/${call}`;
  const rawQuery = Object.entries(query)
    .map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`)
    .join('&');
  const isStream = body === 'stream';
  const unsigned = { host: url.host, ...(isStream ? {} : { 'content-length': String(body.length) }), ...headers };
  const signed = signRequest({ method, rawPath, rawQuery, headers: unsigned }, credentials, {
    region: 'us-east-1',
    service: 's3',
    now: new Date(),
    payloadHash: isStream ? 'UNSIGNED-PAYLOAD' : createHash('sha256').update(body).digest('hex'),
  });
  const secure = url.protocol === 'https:';
  const request = (secure ? httpsRequest : httpRequest)({
    agent: agents === undefined ? false : secure ? agents.https : agents.http,
    host: url.hostname.replaceAll(/[[\]]/g, ''),
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    method,
    path: rawQuery === '' ? rawPath : `${rawPath}?${rawQuery}`,
    headers: { ...unsigned, ...signed },
    ...(signal !== undefined && { signal }),
  });
  const late = isStream ? 'it took no data for' : 'it did not answer within';
  request.setTimeout(idleMs, () => request.destroy(new Error(`${late} ${timeoutText(idleMs)}`)));
  return request;
}

/** Resolves with the head of the answer. */
export async function answerTo(request: ClientRequest): Promise<IncomingMessage> {
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  return answer;
}
