import { S3Error } from '../s3/s3-error.ts';
import { textOfHeader } from '../header-text.ts';
import { parseHttpDate, parseTimestamp } from '../sigv4/timestamp.ts';
import { headerValue, type RequestHeaders, type SignedRequest } from '../sigv4/signed-request.ts';
import { decodedParameters } from '../sigv4/canonical-query.ts';

/** The statements of a request about its signature of version 2. They are not verified yet. */
export interface SignatureV2Claim {
  readonly place: 'header' | 'query';
  readonly accessKey: string;
  /** Base64 of 20 bytes, if it is right. */
  readonly signature: string;
  /** The date of the request, or the end of the URL. */
  readonly time: Date;
  /** The fourth line of the text that is signed: `Expires` as sent, `Date`, or '' where `x-amz-date` replaces it. */
  readonly signedTime: string;
  /** The headers together with those that the URL carries in its query: `x-amz-…`, `content-type` and `content-md5`. */
  readonly headers: RequestHeaders;
  readonly sessionToken?: string;
}

/**
 * Reads what a request with Signature Version 2 says about it, and verifies nothing.
 *
 * @throws S3Error InvalidArgument (a header of another form), AccessDenied (no valid date, parameters that are missing), InvalidRequest (a
 * header that the query contradicts)
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/RESTAuthentication.html
 */
export function parseAuthorizationV2(request: SignedRequest): SignatureV2Claim {
  const authorization = headerValue(request.headers, 'authorization');
  return authorization === undefined ? parseQueryV2(request) : parseHeaderV2(authorization.trim(), request.headers);
}

function parseHeaderV2(authorization: string, headers: RequestHeaders): SignatureV2Claim {
  const [, accessKey, signature] = /^AWS +(\S.*):([^\s:]+)$/.exec(authorization) ?? [];
  if (accessKey === undefined || signature === undefined) {
    throw new S3Error('InvalidArgument', 'AWS authorization header is invalid.  Expected AwsAccessKeyId:signature', {
      details: { ArgumentName: 'Authorization' },
    });
  }
  const amzDate = headerValue(headers, 'x-amz-date')?.trim();
  const date = amzDate ?? headerValue(headers, 'date')?.trim() ?? '';
  const time = parseHttpDate(date) ?? parseTimestamp(date);
  if (time === undefined) {
    throw new S3Error('AccessDenied', 'AWS authentication requires a valid Date or x-amz-date header');
  }
  return {
    place: 'header',
    accessKey: textOfHeader(accessKey),
    signature,
    time,
    signedTime: amzDate === undefined ? date : '',
    headers,
    ...tokenOf(headers),
  };
}

/** Matches the parameters that the canonical form takes for headers. */
const headerParameter = /^(?:x-amz-|content-type$|content-md5$)/;

function parseQueryV2(request: SignedRequest): SignatureV2Claim {
  const own = new Map<string, string>();
  const carried = new Map<string, string>();
  for (const [sent, value] of decodedParameters(request.rawQuery)) {
    const name = sent.toLowerCase();
    const isOwn = sent === 'AWSAccessKeyId' || sent === 'Expires' || sent === 'Signature';
    if (!isOwn && !headerParameter.test(name)) continue;
    const parameters = isOwn ? own : carried;
    if (value === undefined) throw new S3Error('InvalidArgument', `${sent.slice(0, 100)} is not valid UTF-8.`);
    if (parameters.has(isOwn ? sent : name)) {
      throw new S3Error('InvalidArgument', `${sent.slice(0, 100)} is given more than once.`);
    }
    parameters.set(isOwn ? sent : name, value);
  }
  const [accessKey, expires, signature] = [own.get('AWSAccessKeyId'), own.get('Expires'), own.get('Signature')];
  if (accessKey === undefined || expires === undefined || signature === undefined) {
    throw new S3Error(
      'AccessDenied',
      'Query-string authentication requires the Signature, Expires and AWSAccessKeyId parameters',
    );
  }
  if (!/^\d{1,12}$/.test(expires)) {
    throw new S3Error('AccessDenied', `Invalid date (should be seconds since epoch): ${expires.slice(0, 32)}`);
  }
  const headers = withCarried(request.headers, carried);
  return {
    place: 'query',
    accessKey,
    // A `+` that was not encoded is a space in a query, and no base64 has spaces.
    signature: signature.replaceAll(' ', '+'),
    time: new Date(Number(expires) * 1_000),
    signedTime: expires,
    headers,
    ...tokenOf(headers),
  };
}

/** Values of headers have one character for each byte. */
function withCarried(headers: RequestHeaders, carried: ReadonlyMap<string, string>): RequestHeaders {
  const all: Record<string, string | readonly string[] | undefined> = { ...headers };
  for (const [name, value] of carried) {
    const text = Buffer.from(value).toString('latin1').trim();
    const other = headerValue(headers, name);
    if (other !== undefined && other.trim() !== text) {
      throw new S3Error(
        'InvalidRequest',
        `${name.slice(0, 100)} of the presigned URL is given twice, with different values.`,
        {
          details: { ArgumentName: name.slice(0, 100) },
        },
      );
    }
    all[name] = text;
  }
  return all;
}

function tokenOf(headers: RequestHeaders): { readonly sessionToken?: string } {
  const sessionToken = headerValue(headers, 'x-amz-security-token');
  return sessionToken === undefined ? {} : { sessionToken };
}
