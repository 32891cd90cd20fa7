import { computeSignature, hashCanonicalRequest } from './canonical-request.ts';
import { percentEncode, reencode } from './percent-encoding.ts';
import { canonicalQuery } from './query.ts';
import type { Credentials } from './signed-request.ts';
import { deriveSigningKey, formatScope } from './signing-key.ts';
import { formatTimestamp } from './timestamp.ts';

export interface Presigning {
  readonly region: string;
  readonly service: string;
  readonly now: Date;
  /** Seconds, 1 to 604800. */
  readonly expires: number;
  readonly method?: string;
  /** Hex SHA-256 that the body must have; any body is good without it. */
  readonly payloadHash?: string;
}

/**
 * The URL with its signature in the query; `url` may carry a query of its own. Only the host is signed of the headers.
 *
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
