import { hash } from 'node:crypto';
import { S3Error } from '../s3/s3-error.ts';
import type { SignatureClaim } from './parse-authorization.ts';
import { computeSignature } from './signature.ts';
import { formatScope, type SigningKey, type SigningKeys } from './signing-key.ts';
import { formatTimestamp } from './timestamp.ts';
import { canonicalHeaders, canonicalRequest, hashCanonicalRequest } from './canonical-request.ts';
import { type RequestHeaders, type SignedRequest } from './signed-request.ts';
import { canonicalQuery } from './canonical-query.ts';
import { reencode } from '../uri/percent-encoding.ts';
import { timingSafeEqual } from '../timing-safe-equal.ts';

const allowedSkew = 15 * 60_000;

/**
 * The refusal of a request whose time is too far from the time here. The message has both times, since many clients, STS and the admin API
 * show nothing of the elements that AWS has for them. `allowedMs` are milliseconds.
 */
export function tooSkewed(request: Date, now: Date, allowedMs: number): S3Error {
  const [RequestTime, ServerTime] = [request.toISOString(), now.toISOString()];
  const message = `The difference between the request time (${RequestTime}) and the current time (${ServerTime}) is too large.`;
  return new S3Error('RequestTimeTooSkewed', message, {
    details: { RequestTime, ServerTime, MaxAllowedSkewMilliseconds: String(allowedMs) },
  });
}

/** Checks the time. Header signatures are valid for 15 minutes before and after their time; presigned URLs are valid until they expire. */
function checkTime(claim: SignatureClaim, now: Date): void {
  const age = now.getTime() - claim.timestamp.getTime();
  if (claim.kind === 'header') {
    if (Math.abs(age) <= allowedSkew) return;
    throw tooSkewed(claim.timestamp, now, allowedSkew);
  }
  if (age < -allowedSkew) {
    throw new S3Error('AccessDenied', `Request is not valid before ${claim.timestamp.toISOString()}.`);
  }
  const expires = claim.timestamp.getTime() + (claim.expires ?? 0) * 1_000;
  if (now.getTime() <= expires) return;
  throw new S3Error('AccessDenied', 'Request has expired', {
    details: { Expires: new Date(expires).toISOString(), ServerTime: now.toISOString() },
  });
}

/** Checks the scope. Clients learn the right region from the element `Region` of the error, and try again with it. */
function checkScope(
  claim: SignatureClaim,
  expected: { readonly region?: string; readonly services: readonly string[]; readonly allowEmptyRegion?: boolean },
): void {
  const { region, service } = claim.scope;
  const code = claim.kind === 'header' ? 'AuthorizationHeaderMalformed' : 'AuthorizationQueryParametersError';
  const what = claim.kind === 'header' ? 'The authorization header is malformed' : 'The presigned URL is not valid';
  if (!expected.services.includes(service)) {
    throw new S3Error(
      code,
      `${what}; the service '${service.slice(0, 64)}' is wrong; expecting '${expected.services.join("' or '")}'.`,
    );
  }
  if (region === '') {
    if (expected.allowEmptyRegion === true) return;
    throw new S3Error(code, `${what}; the region is empty; expecting '${expected.region || 'us-east-1'}'.`, {
      details: { Region: expected.region || 'us-east-1' },
    });
  }
  if (expected.region === undefined || expected.region === '' || region === expected.region) return;
  throw new S3Error(code, `${what}; the region '${region.slice(0, 64)}' is wrong; expecting '${expected.region}'.`, {
    details: { Region: expected.region },
  });
}

export interface Verification {
  readonly now: Date;
  /** The region of this store. Without it any region is valid. */
  readonly region?: string;
  /** The services that the scope may name, e.g. `['s3']`, `['sts']`. */
  readonly services: readonly string[];
  /** Admin clients leave the region of the scope empty. */
  readonly allowEmptyRegion?: boolean;
  /** The hex SHA-256 of the body where it is known: of any body (STS), or of no body. A request then needs no `x-amz-content-sha256`. */
  readonly bodyHash?: string;
  readonly signingKeys: SigningKeys;
}

/** The values on which the signatures of a streaming body build. */
export interface VerifiedSignature {
  readonly claim: SignatureClaim;
  readonly signingKey: SigningKey;
}

/**
 * Headers that need no signature. The canonical request contains the first two anyway. The third is for statistics, and proxies and
 * browsers add it.
 */
const maybeUnsigned = new Set(['x-amz-content-sha256', 'x-amz-date', 'x-amz-user-agent']);

/**
 * Verifies that `claim` was made with `secretKey` for this very request, and is valid now.
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
  const isSignedAs = (path: string, headerLines: string, encoding?: 'utf8', signedQuery = query): boolean => {
    const parts = {
      method: request.method,
      path,
      query: signedQuery,
      headerLines,
      signedHeaders: claim.signedHeaders,
      payloadHash,
    };
    return timingSafeEqual(
      computeSignature(signingKey, timestamp, claim.scope, hashCanonicalRequest(parts, encoding)),
      claim.signature,
    );
  };
  const path = reencode(request.rawPath, { keepSlash: true, plusIsSpace: false });
  const headerLines = canonicalHeaders(headersAsSigned(request.headers, claim.signedHeaders), claim.signedHeaders);
  // A signature of the usual form needs no second check.
  if (isSignedAs(path, headerLines)) return { claim, signingKey };
  for (const reading of otherReadings(request.rawPath, path, headerLines)) {
    if (isSignedAs(reading.path, reading.headerLines)) return { claim, signingKey };
  }
  const byName = canonicalQuery(request.rawQuery, 'by-name');
  if (byName !== query && isSignedAs(path, headerLines, undefined, byName)) return { claim, signingKey };
  // Some clients sign the characters of a header as UTF-8 and send them as ISO-8859-1.
  if (Buffer.byteLength(headerLines) !== headerLines.length && isSignedAs(path, headerLines, 'utf8')) {
    return { claim, signingKey };
  }
  throw new S3Error(
    'SignatureDoesNotMatch',
    'The request signature we calculated does not match the signature you provided. Check your key and signing method, and ' +
      'that no proxy changes the path, the query or the host.',
    {
      details: mismatch(
        claim,
        canonicalRequest({
          method: request.method,
          path,
          query,
          headerLines,
          signedHeaders: claim.signedHeaders,
          payloadHash,
        }),
      ),
    },
  );
}

/** Returns what the client should have signed, in the elements of AWS. All of it comes from the request. */
function mismatch(claim: SignatureClaim, canonical: string): Record<string, string> {
  const timestamp = formatTimestamp(claim.timestamp);
  const text = `AWS4-HMAC-SHA256\n${timestamp}\n${formatScope(claim.scope)}\n${hash('sha256', Buffer.from(canonical, 'latin1'))}`;
  return {
    AWSAccessKeyId: claim.accessKey.slice(0, 128),
    StringToSign: text,
    SignatureProvided: claim.signature,
    StringToSignBytes: hexBytes(text),
    CanonicalRequest: Buffer.from(canonical, 'latin1').toString(),
    CanonicalRequestBytes: hexBytes(canonical),
  };
}

/** Returns bytes as AWS shows them: two digits each, separated by spaces. Each character of `text` is one byte. */
export function hexBytes(text: string): string {
  return Buffer.from(text, 'latin1')
    .toString('hex')
    .replaceAll(/..(?=.)/g, '$& ');
}

/**
 * Some clients sign a request in another form than the canonical one. They sign the path as sent (`%2F` in a key), or join a repeated
 * header by `,` where node joins it by `, `.
 */
function otherReadings(rawPath: string, path: string, headerLines: string): { path: string; headerLines: string }[] {
  const joined = headerLines.replaceAll(', ', ',');
  const paths = path === rawPath ? [path] : [path, rawPath];
  const lines = joined === headerLines ? [headerLines] : [headerLines, joined];
  return lines.flatMap((each) => paths.map((of) => ({ path: of, headerLines: each }))).slice(1);
}

/** `Expect` is hop-by-hop: a proxy that answers it removes it, and its value is known. */
function headersAsSigned(headers: RequestHeaders, signed: readonly string[]): RequestHeaders {
  return signed.includes('expect') && headers['expect'] === undefined
    ? { ...headers, expect: '100-continue' }
    : headers;
}

function checkSignedHeaders(headers: RequestHeaders, { signedHeaders }: SignatureClaim): void {
  const unsigned = signedHeaders.includes('host') ? [] : ['host'];
  for (const name of Object.keys(headers)) {
    // The headers of MinIO, such as x-minio-force-delete, change what a request does, as those of AWS do.
    if (!name.startsWith('x-amz-') && !name.startsWith('x-minio-')) continue;
    if (!maybeUnsigned.has(name) && !signedHeaders.includes(name)) unsigned.push(name);
  }
  if (unsigned.length === 0) return;
  const names = unsigned.join(', ');
  throw new S3Error('AccessDenied', `There were headers present in the request which were not signed: ${names}.`, {
    details: { HeadersNotSigned: names },
  });
}
