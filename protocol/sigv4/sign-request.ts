import { computeSignature } from './signature.ts';
import {
  type SignatureScope,
  type SigningKey,
  type SigningKeys,
  deriveSigningKey,
  formatScope,
} from './signing-key.ts';
import { type Credentials } from './credentials.ts';
import { formatTimestamp } from './timestamp.ts';
import { canonicalHeaders, hashCanonicalRequest } from './canonical-request.ts';
import { type SignedRequest } from './signed-request.ts';
import { canonicalQuery } from './canonical-query.ts';
import { reencode, percentEncode } from '../uri/percent-encoding.ts';

interface Signing {
  readonly region: string;
  readonly service: string;
  readonly now: Date;
  /** Hex SHA-256 of the body, `UNSIGNED-PAYLOAD` or a `STREAMING-…` name. */
  readonly payloadHash: string;
  /** Keeps the signing key for other requests of the day. */
  readonly signingKeys?: SigningKeys;
}

export interface SignedParts {
  /** The caller adds these headers to the request. */
  readonly headers: Record<string, string>;
  readonly signature: string;
  readonly signingKey: SigningKey;
  readonly scope: SignatureScope;
  readonly timestamp: string;
}

/** Proxies and the HTTP library change these headers on the way. */
const neverSigned = new Set([
  'authorization',
  'connection',
  'expect',
  'user-agent',
  'transfer-encoding',
  'accept-encoding',
]);

/**
 * Signs a request and returns the headers to add: `x-amz-date`, `x-amz-content-sha256`, `x-amz-security-token`, `authorization`. The
 * request must have `host`. Values hold one character per byte, as node:http takes them.
 *
 * @example
 *     const request = { method: 'GET', rawPath: '/photos/cat.jpg', rawQuery: '', headers: { host: 's3.example.org' } };
 *     const credentials = { accessKey: 'AKIAIOSFODNN7EXAMPLE', secretKey: 'wJalrXUtnFEMI' };
 *     const signing = { region: 'us-east-1', service: 's3', now: new Date(0), payloadHash: 'UNSIGNED-PAYLOAD' };
 *     Object.keys(signRequest(request, credentials, signing)); // ['x-amz-date', 'x-amz-content-sha256', 'authorization']
 *     signRequest(request, credentials, signing)['x-amz-date']; // 19700101T000000Z
 */
export function signRequest(
  request: SignedRequest,
  credentials: Credentials,
  signing: Signing,
): Record<string, string> {
  return signParts(request, credentials, signing).headers;
}

/** Does the same as `signRequest`, and also returns the values on which the signatures of chunks build. */
export function signParts(request: SignedRequest, credentials: Credentials, signing: Signing): SignedParts {
  const timestamp = formatTimestamp(signing.now);
  const scope = { date: timestamp.slice(0, 8), region: signing.region, service: signing.service };
  const added: Record<string, string> = {
    'x-amz-date': timestamp,
    'x-amz-content-sha256': signing.payloadHash,
    ...(credentials.sessionToken === undefined ? {} : { 'x-amz-security-token': credentials.sessionToken }),
  };
  const headers = { ...request.headers, ...added };
  const signedHeaders = Object.keys(headers)
    .filter((name) => headers[name] !== undefined && !neverSigned.has(name))
    .sort();
  const { secretKey } = credentials;
  const signingKey = signing.signingKeys?.get(secretKey, scope) ?? deriveSigningKey(secretKey, scope);
  const signature = computeSignature(
    signingKey,
    timestamp,
    scope,
    hashCanonicalRequest({
      method: request.method,
      path: reencode(request.rawPath, { keepSlash: true, plusIsSpace: false }),
      query: canonicalQuery(request.rawQuery),
      headerLines: canonicalHeaders(headers, signedHeaders),
      signedHeaders,
      payloadHash: signing.payloadHash,
    }),
  );
  added['authorization'] =
    `AWS4-HMAC-SHA256 Credential=${headerOfText(credentials.accessKey)}/${formatScope(scope)}, ` +
    `SignedHeaders=${signedHeaders.join(';')}, Signature=${signature}`;
  return { headers: added, signature, signingKey, scope, timestamp };
}

/** Returns UTF-8 as one character for each byte. */
function headerOfText(text: string): string {
  return Buffer.from(text).toString('latin1');
}

interface Presigning {
  readonly region: string;
  readonly service: string;
  readonly now: Date;
  /** Seconds, 1 to 604800. */
  readonly expires: number;
  readonly method?: string;
  /** The hex SHA-256 of the body. Without it the URL is good for any body. */
  readonly payloadHash?: string;
}

/**
 * Returns the URL with its signature in the query. `url` may have a query of its own. Of the headers only the host is signed.
 *
 * @example
 *     const credentials = { accessKey: 'AKIAIOSFODNN7EXAMPLE', secretKey: 'wJalrXUtnFEMI' };
 *     const presigning = { region: 'us-east-1', service: 's3', now: new Date(0), expires: 60 };
 *     const url = presignUrl(new URL('https://s3.example.org/photos/cat.jpg'), credentials, presigning);
 *     url.searchParams.get('X-Amz-Expires'); // '60'
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
 */
export function presignUrl(url: URL, credentials: Credentials, presigning: Presigning): URL {
  const timestamp = formatTimestamp(presigning.now);
  const scope = { date: timestamp.slice(0, 8), region: presigning.region, service: presigning.service };
  const parameters: [string, string][] = [
    ['X-Amz-Algorithm', 'AWS4-HMAC-SHA256'],
    ['X-Amz-Credential', `${credentials.accessKey}/${formatScope(scope)}`],
    ['X-Amz-Date', timestamp],
    ['X-Amz-Expires', String(presigning.expires)],
    ['X-Amz-SignedHeaders', 'host'],
  ];
  const { payloadHash } = presigning;
  if (payloadHash !== undefined) parameters.push(['X-Amz-Content-Sha256', payloadHash]);
  if (credentials.sessionToken !== undefined) parameters.push(['X-Amz-Security-Token', credentials.sessionToken]);
  const own = url.search.slice(1);
  const added = parameters.map(([name, value]) => `${name}=${percentEncode(value)}`).join('&');
  const query = canonicalQuery(own === '' ? added : `${own}&${added}`);
  const path = reencode(url.pathname, { keepSlash: true, plusIsSpace: false });
  const hash = hashCanonicalRequest({
    method: presigning.method ?? 'GET',
    path,
    query,
    headerLines: `host:${url.host}\n`,
    signedHeaders: ['host'],
    payloadHash: payloadHash ?? 'UNSIGNED-PAYLOAD',
  });
  const signature = computeSignature(deriveSigningKey(credentials.secretKey, scope), timestamp, scope, hash);
  return new URL(`${url.protocol}//${url.host}${path}?${query}&X-Amz-Signature=${signature}`);
}
