import { S3Error } from '../s3/s3-error.ts';
import { algorithm, malformed, parseFields } from './authorization-fields.ts';
import type { KnownAuthorizations } from './authorization-fields.ts';
import { parsePresigned, presignedParameters } from './parse-presigned.ts';
import { headerValue, type SignatureClaim, type SignedRequest } from './signed-request.ts';
import { formatTimestamp, parseHttpDate, parseTimestamp } from './timestamp.ts';

/**
 * What the request says about its signature; undefined when it is anonymous. Nothing is verified yet. `known` saves reading the same
 * header again.
 *
 * @throws S3Error `AuthorizationHeaderMalformed`, `AuthorizationQueryParametersError`, `UnsupportedSignature` (versions other
 * than 4, and ECDSA), `InvalidArgument` (another scheme, or two ways at once), `AccessDenied` (no valid date)
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html
 */
export function parseAuthorization(
  request: SignedRequest,
  known?: Pick<KnownAuthorizations, 'parse'>,
): SignatureClaim | undefined {
  const authorization = headerValue(request.headers, 'authorization');
  const presigned = presignedParameters(request.rawQuery);
  if (authorization === undefined) return presigned && parsePresigned(presigned, request.headers);
  if (presigned !== undefined) {
    throw new S3Error(
      'InvalidArgument',
      'The request is signed both by an Authorization header and in its query; send only one signature.',
    );
  }
  return parseHeader(authorization.trim(), request, known);
}

function parseHeader(
  authorization: string,
  request: SignedRequest,
  known: Pick<KnownAuthorizations, 'parse'> | undefined,
): SignatureClaim {
  checkScheme(authorization);
  const { accessKey, scope, signedHeaders, signature } = known?.parse(authorization) ?? parseFields(authorization);
  const timestamp = requestDate(request);
  checkScopeDate(scope.date, timestamp);
  const sessionToken = headerValue(request.headers, 'x-amz-security-token');
  const payloadHash = headerValue(request.headers, 'x-amz-content-sha256');
  return {
    kind: 'header',
    accessKey,
    scope,
    signedHeaders,
    signature,
    timestamp,
    ...(sessionToken === undefined ? {} : { sessionToken }),
    ...(payloadHash === undefined ? {} : { payloadHash: payloadHash.trim() }),
  };
}

function checkScheme(authorization: string): void {
  if (authorization.startsWith(`${algorithm} `)) return;
  const scheme = authorization.split(/[\s,]/, 1)[0] ?? '';
  if (scheme === algorithm) return;
  if (scheme === 'AWS' || scheme.startsWith('AWS4-') || scheme.startsWith('AWS3')) {
    throw new S3Error(
      'UnsupportedSignature',
      `The signature scheme "${scheme}" is not supported; sign with ${algorithm} (Signature Version 4).`,
    );
  }
  throw new S3Error(
    'InvalidArgument',
    `Unsupported Authorization type "${scheme.slice(0, 32)}"; sign with ${algorithm} (Signature Version 4).`,
  );
}

function requestDate(request: SignedRequest): Date {
  const amzDate = headerValue(request.headers, 'x-amz-date')?.trim();
  const date = amzDate ?? headerValue(request.headers, 'date')?.trim();
  const timestamp =
    date === undefined
      ? undefined
      : (parseTimestamp(date) ?? (amzDate === undefined ? parseHttpDate(date) : undefined));
  if (timestamp !== undefined) return timestamp;
  throw new S3Error(
    'AccessDenied',
    date === undefined
      ? 'AWS authentication requires a valid Date or x-amz-date header; the request has neither.'
      : `AWS authentication requires a valid Date or x-amz-date header such as 20130524T000000Z, not "${date.slice(0, 64)}".`,
  );
}

function checkScopeDate(scopeDate: string, timestamp: Date): void {
  const day = formatTimestamp(timestamp).slice(0, 8);
  if (scopeDate !== day) {
    throw malformed(`the date "${scopeDate}" of the credential is not the day of the request, "${day}"`);
  }
}
