import { S3Error } from '../s3/s3-error.ts';
import { parsePresigned, presignedParameters } from './parse-presigned.ts';
import { parseCredential } from './parse-credential.ts';
import { parseSignature, parseSignedHeaders } from './parse-signed-parts.ts';
import { headerValue, type SignatureClaim, type SignedRequest } from './signed-request.ts';
import { parseHttpDate, parseTimestamp } from './timestamp.ts';

const algorithm = 'AWS4-HMAC-SHA256';

/**
 * What the request says about its signature; undefined when it is anonymous. Nothing is verified yet.
 *
 * @throws S3Error `AuthorizationHeaderMalformed`, `AuthorizationQueryParametersError`, `UnsupportedSignature` (versions other
 * than 4, and ECDSA), `InvalidArgument` (another scheme, or two ways at once), `AccessDenied` (no valid date)
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html
 */
export function parseAuthorization(request: SignedRequest): SignatureClaim | undefined {
  const authorization = headerValue(request.headers, 'authorization');
  const presigned = presignedParameters(request.rawQuery);
  if (authorization === undefined) return presigned && parsePresigned(presigned, request.headers);
  if (presigned !== undefined) {
    throw new S3Error(
      'InvalidArgument',
      'The request is signed both by an Authorization header and in its query; send only one signature.',
    );
  }
  return parseHeader(authorization.trim(), request);
}

function parseHeader(authorization: string, request: SignedRequest): SignatureClaim {
  checkScheme(authorization);
  const fields = parseFields(authorization.slice(algorithm.length));
  const { accessKey, scope } = parseCredential(fields.Credential, malformed);
  const timestamp = requestDate(request);
  checkScopeDate(scope.date, timestamp);
  const sessionToken = headerValue(request.headers, 'x-amz-security-token');
  const payloadHash = headerValue(request.headers, 'x-amz-content-sha256');
  return {
    kind: 'header',
    accessKey,
    scope,
    signedHeaders: parseSignedHeaders(fields.SignedHeaders, malformed),
    signature: parseSignature(fields.Signature, malformed),
    timestamp,
    ...(sessionToken === undefined ? {} : { sessionToken }),
    ...(payloadHash === undefined ? {} : { payloadHash: payloadHash.trim() }),
  };
}

function checkScheme(authorization: string): void {
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

interface HeaderFields {
  Credential: string;
  SignedHeaders: string;
  Signature: string;
}

function parseFields(text: string): HeaderFields {
  const fields: Partial<Record<string, string>> = {};
  for (const field of text.split(',')) {
    const equals = field.indexOf('=');
    const name = field.slice(0, Math.max(equals, 0)).trim();
    if (equals < 0 || fields[name] !== undefined) {
      throw malformed(
        `expecting Credential, SignedHeaders and Signature once each, not "${field.trim().slice(0, 64)}"`,
      );
    }
    fields[name] = field.slice(equals + 1).trim();
  }
  const { Credential, SignedHeaders, Signature } = fields;
  if (Credential === undefined) throw malformed('Credential is missing');
  if (SignedHeaders === undefined) throw malformed('SignedHeaders is missing');
  if (Signature === undefined) throw malformed('Signature is missing');
  return { Credential, SignedHeaders, Signature };
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
  const day = timestamp.toISOString().slice(0, 10).replaceAll('-', '');
  if (scopeDate !== day) {
    throw malformed(`the date "${scopeDate}" of the credential is not the day of the request, "${day}"`);
  }
}

function malformed(why: string): S3Error {
  return new S3Error('AuthorizationHeaderMalformed', `The authorization header is malformed; ${why}.`);
}
