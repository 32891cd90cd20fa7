import { timingSafeEqual } from 'node:crypto';
import { S3Error } from '../s3/s3-error.ts';
import { canonicalHeaders, computeSignature, hashCanonicalRequest } from './canonical-request.ts';
import { reencode } from './percent-encoding.ts';
import { canonicalQuery } from './query.ts';
import { checkScope, checkTime } from './check-scope.ts';
import type { SigningKey, SigningKeys } from './signing-key.ts';
import type { RequestHeaders, SignatureClaim, SignedRequest } from './signed-request.ts';
import { formatTimestamp } from './timestamp.ts';

export interface Verification {
  readonly now: Date;
  /** The region of this store; absent or empty: any region is good. */
  readonly region?: string;
  /** Services that may be named by the scope, e.g. `['s3']`, `['sts']`. */
  readonly services: readonly string[];
  /** Admin clients leave the region of the scope empty. */
  readonly allowEmptyRegion?: boolean;
  /** Hex SHA-256 of the body, where the request carries no `x-amz-content-sha256` (STS). */
  readonly bodyHash?: string;
  readonly signingKeys: SigningKeys;
}

/** What the chunks of a streaming body chain on. */
export interface VerifiedSignature {
  readonly claim: SignatureClaim;
  readonly signingKey: SigningKey;
}

/**
 * Headers that need no signature of their own. The first two are part of what is signed anyway; the third is there for
 * statistics, and proxies and browsers add it.
 */
const maybeUnsigned = new Set(['x-amz-content-sha256', 'x-amz-date', 'x-amz-user-agent']);

/**
 * Whether `claim` was made with `secretKey` for this very request, now.
 *
 * @throws S3Error `SignatureDoesNotMatch`, `RequestTimeTooSkewed`, `AccessDenied` (expired, unsigned headers),
 * `AuthorizationHeaderMalformed` or `AuthorizationQueryParametersError` (region, service), `InvalidRequest` (no payload hash)
 */
export function verifySignature(
  request: SignedRequest,
  claim: SignatureClaim,
  secretKey: string,
  verification: Verification,
): VerifiedSignature {
  checkTime(claim, verification.now);
  checkScope(claim, verification);
  checkSignedHeaders(request.headers, claim);
  const payloadHash = claim.payloadHash ?? verification.bodyHash;
  if (payloadHash === undefined) {
    throw new S3Error('InvalidRequest', 'Missing required header for this request: x-amz-content-sha256.');
  }
  const signingKey = verification.signingKeys.get(secretKey, claim.scope);
  const timestamp = formatTimestamp(claim.timestamp);
  const query = canonicalQuery(request.rawQuery);
  const isSignedAs = (path: string, headerLines: string, encoding?: 'utf8'): boolean => {
    const parts = { method: request.method, path, query, headerLines, signedHeaders: claim.signedHeaders, payloadHash };
    return equalSignatures(
      computeSignature(signingKey, timestamp, claim.scope, hashCanonicalRequest(parts, encoding)),
      claim.signature,
    );
  };
  const path = reencode(request.rawPath, { keepSlash: true, plusIsSpace: false });
  const headerLines = canonicalHeaders(headersAsSigned(request.headers, claim.signedHeaders), claim.signedHeaders);
  // What is signed in the usual way is not read in any other.
  if (isSignedAs(path, headerLines)) return { claim, signingKey };
  for (const reading of otherReadings(request.rawPath, path, headerLines)) {
    if (isSignedAs(reading.path, reading.headerLines)) return { claim, signingKey };
  }
  // Some clients sign the characters of a header as UTF-8 and send them as ISO-8859-1.
  if (Buffer.byteLength(headerLines) !== headerLines.length && isSignedAs(path, headerLines, 'utf8')) {
    return { claim, signingKey };
  }
  throw new S3Error(
    'SignatureDoesNotMatch',
    'The request signature that we calculated does not match the signature that you provided. Check the secret key, and ' +
      'that no proxy changes the path, the query or the host.',
  );
}

/** Digits of a signature. */
const signatureLength = 64;
const one = Buffer.alloc(signatureLength);
const other = Buffer.alloc(signatureLength);

/** In a time that tells nothing of either. Kept memory, since two buffers for each request cost more than comparing them. */
function equalSignatures(computed: string, sent: string): boolean {
  if (sent.length !== signatureLength) return false;
  one.write(computed, 'latin1');
  other.write(sent, 'latin1');
  return timingSafeEqual(one, other);
}

/**
 * The ways in which some clients read what is sent. A path is signed re-encoded, by some as it is (`%2F` in a key); a repeated
 * header is signed joined by `,` and arrives here joined by `, `.
 */
function otherReadings(rawPath: string, path: string, headerLines: string): { path: string; headerLines: string }[] {
  const joined = headerLines.replaceAll(', ', ',');
  const paths = path === rawPath ? [path] : [path, rawPath];
  const lines = joined === headerLines ? [headerLines] : [headerLines, joined];
  return lines.flatMap((each) => paths.map((of) => ({ path: of, headerLines: each }))).slice(1);
}

/** `Expect` is hop-by-hop: a proxy that answers it strips it, and its value is known. */
function headersAsSigned(headers: RequestHeaders, signed: readonly string[]): RequestHeaders {
  return signed.includes('expect') && headers['expect'] === undefined
    ? { ...headers, expect: '100-continue' }
    : headers;
}

function checkSignedHeaders(headers: RequestHeaders, { signedHeaders }: SignatureClaim): void {
  const unsigned = signedHeaders.includes('host') ? [] : ['host'];
  for (const name of Object.keys(headers)) {
    if (name.startsWith('x-amz-') && !maybeUnsigned.has(name) && !signedHeaders.includes(name)) unsigned.push(name);
  }
  if (unsigned.length === 0) return;
  const names = unsigned.join(', ');
  throw new S3Error('AccessDenied', `There were headers present in the request which were not signed: ${names}.`, {
    details: { HeadersNotSigned: names },
  });
}
