import { textOfHeader } from '../header-text.ts';
import { S3Error } from '../s3/s3-error.ts';
import { type SignatureScope } from './signing-key.ts';
import { parseTimestamp, formatTimestamp, parseHttpDate } from './timestamp.ts';
import { headerValue, type RequestHeaders, type SignedRequest } from './signed-request.ts';
import { decodedParameters } from './canonical-query.ts';

/** The statements of a request about its signature. They are not verified yet. */
export interface SignatureClaim {
  readonly kind: 'header' | 'presigned';
  readonly accessKey: string;
  readonly scope: SignatureScope;
  /** Names in lower case, in the order of the request. */
  readonly signedHeaders: readonly string[];
  /** 64 hexadecimal digits. */
  readonly signature: string;
  readonly timestamp: Date;
  /** The lifetime of a presigned URL in seconds, 1 to 604800. */
  readonly expires?: number;
  readonly sessionToken?: string;
  /**
   * `x-amz-content-sha256` as sent; `UNSIGNED-PAYLOAD` for a presigned URL without one. It is undefined for a header signature without one,
   * which only services other than S3 (STS) allow. Their caller passes the hash of the body to `verifySignature`.
   */
  readonly payloadHash?: string;
}

/** Reads `<access key>/<date>/<region>/<service>/aws4_request`. The access key may contain slashes, so the parser starts at the end. */
export function parseCredential(
  credential: string,
  fail: (why: string) => S3Error,
): { readonly accessKey: string; readonly scope: SignatureScope } {
  const parts = credential.split('/');
  const [date, region, service, terminator] = parts.slice(-4);
  const accessKey = parts.slice(0, -4).join('/');
  if (date === undefined || region === undefined || service === undefined || accessKey === '') {
    throw fail(
      `the credential must be <access key>/<yyyymmdd>/<region>/<service>/aws4_request, not "${credential.slice(0, 128)}"`,
    );
  }
  if (terminator !== 'aws4_request') throw fail(`the credential must end with "aws4_request", not "${terminator}"`);
  if (!/^\d{8}$/.test(date)) throw fail(`the credential's date must be yyyymmdd, not "${date.slice(0, 32)}"`);
  return { accessKey, scope: { date, region, service } };
}

/** Metadata of 2 KiB has room for a few hundred headers with short names; other clients sign a dozen. */
const maxSignedHeaders = 500;

/** Names in lower case, at least one, each once. */
function parseSignedHeaders(text: string, fail: (why: string) => S3Error): string[] {
  const names = text.toLowerCase().split(';', maxSignedHeaders + 1);
  if (names.length > maxSignedHeaders) throw fail(`SignedHeaders names more than ${maxSignedHeaders} headers`);
  if (new Set(names).size !== names.length || !names.every((name) => /^[!-9<-~]+$/.test(name))) {
    throw fail('SignedHeaders must be a list of header names separated by semicolons, each once');
  }
  return names;
}

function isSignature(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

function parseSignature(text: string, fail: (why: string) => S3Error): string {
  if (!isSignature(text)) throw fail('Signature must be 64 hexadecimal digits in lower case');
  return text;
}

export const algorithm = 'AWS4-HMAC-SHA256';

/** The fields of an Authorization header. */
interface AuthorizationFields {
  readonly accessKey: string;
  readonly scope: SignatureScope;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
}

/** @throws S3Error `AuthorizationHeaderMalformed` */
export function parseFields(authorization: string): AuthorizationFields {
  const fields = splitFields(authorization.slice(algorithm.length));
  const { accessKey, scope } = parseCredential(fields.Credential, malformed);
  return {
    accessKey: textOfHeader(accessKey),
    scope,
    signedHeaders: parseSignedHeaders(fields.SignedHeaders, malformed),
    signature: parseSignature(fields.Signature, malformed),
  };
}

interface HeaderFields {
  Credential: string;
  SignedHeaders: string;
  Signature: string;
}

function splitFields(text: string): HeaderFields {
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

function malformed(why: string): S3Error {
  return new S3Error('AuthorizationHeaderMalformed', `The authorization header is malformed; ${why}.`);
}

/** The number of digits of a signature. Every client puts it at the end of the header. */
const signatureLength = 64;
/** Characters. A longer header is not cached, so that unauthenticated callers cannot fill the memory. */
const maxKeptLength = 1_024;

/**
 * A bounded cache of parsed Authorization headers without their signatures. The headers of one client differ in nothing else all day, and
 * parsing the rest again cost a tenth of a small request. The cache says how a header reads, and nothing about whether it is right.
 */
export class KnownAuthorizations {
  readonly #known = new Map<string, Omit<AuthorizationFields, 'signature'>>();
  readonly #limit: number;

  constructor(limit = 1_000) {
    this.#limit = limit;
  }

  /** Does the same as `parseFields`. */
  parse(authorization: string): AuthorizationFields {
    const rest = authorization.slice(0, -signatureLength);
    const signature = authorization.slice(rest.length);
    const known = this.#known.get(rest);
    if (known !== undefined && isSignature(signature)) return { ...known, signature };
    const fields = parseFields(authorization);
    // The signature must be the last field: otherwise the end of the text is another field.
    if (rest.length <= maxKeptLength && /,\s*Signature=$/.test(rest)) this.#keep(rest, fields);
    return fields;
  }

  #keep(rest: string, { accessKey, scope, signedHeaders }: AuthorizationFields): void {
    for (const oldest of this.#known.keys()) {
      if (this.#known.size < this.#limit) break;
      this.#known.delete(oldest);
    }
    this.#known.set(rest, { accessKey, scope, signedHeaders });
  }
}

const maxExpirySeconds = 604_800;
const required = [
  'X-Amz-Algorithm',
  'X-Amz-Credential',
  'X-Amz-Date',
  'X-Amz-Expires',
  'X-Amz-SignedHeaders',
  'X-Amz-Signature',
] as const;

/** The parameters that make a URL one of version 4, and those of version 2. */
const ofVersion4 = new Set(['X-Amz-Algorithm', 'X-Amz-Credential', 'X-Amz-Signature']);
const ofVersion2 = new Set(['AWSAccessKeyId', 'Signature']);

/** Returns the parameters of a presigned URL, `version-2` for one of that version, or undefined for any other query. */
function presignedParameters(rawQuery: string): ReadonlyMap<string, string> | 'version-2' | undefined {
  // Most queries contain none of these, and this test saves the decoding. A name may be encoded, and need not have a value.
  if (rawQuery === '' || !/X-Amz-(?:Algorithm|Credential)|AWSAccessKeyId|Signature|(?:^|&)[^=&]*%/.test(rawQuery)) {
    return undefined;
  }
  const parameters = new Map<string, string>();
  let isVersion2 = false;
  for (const [sent, value] of decodedParameters(rawQuery)) {
    // SDKs move the header into the query under the name of the header.
    const name = sent.toLowerCase() === 'x-amz-content-sha256' ? 'X-Amz-Content-Sha256' : sent;
    if (ofVersion2.has(name)) isVersion2 = true;
    if (!name.startsWith('X-Amz-')) continue;
    if (value === undefined) throw malformedQuery(`${name} is not valid UTF-8`);
    if (parameters.has(name)) throw malformedQuery(`${name} is given more than once`);
    parameters.set(name, value);
  }
  const isVersion4 = parameters.keys().some((name) => ofVersion4.has(name));
  if (isVersion2 && isVersion4) throw twoSignatures();
  if (isVersion2) return 'version-2';
  return isVersion4 ? parameters : undefined;
}

function twoSignatures(): S3Error {
  return new S3Error(
    'InvalidArgument',
    'Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string parameter or the ' +
      'Authorization header should be specified',
    { details: { ArgumentName: 'Authorization' } },
  );
}

function parsePresigned(parameters: ReadonlyMap<string, string>, headers: RequestHeaders): SignatureClaim {
  const [algorithm, credential, date, expires, signedHeaders, signature] = required.map((name) => {
    const value = parameters.get(name);
    if (value === undefined) throw malformedQuery(`the query-string authentication needs ${name}`);
    return value;
  }) as [string, string, string, string, string, string];
  if (algorithm !== 'AWS4-HMAC-SHA256') {
    throw malformedQuery(`X-Amz-Algorithm must be "AWS4-HMAC-SHA256", not "${algorithm.slice(0, 64)}"`);
  }
  const { accessKey, scope } = parseCredential(credential, malformedQuery);
  const timestamp = parseTimestamp(date);
  if (timestamp === undefined)
    throw malformedQuery(`X-Amz-Date must be like 20130524T000000Z, not "${date.slice(0, 64)}"`);
  if (!date.startsWith(scope.date)) {
    throw malformedQuery(`the credential's date "${scope.date}" is not the day of X-Amz-Date "${date}"`);
  }
  const sessionToken = parameters.get('X-Amz-Security-Token');
  return {
    kind: 'presigned',
    accessKey,
    scope,
    signedHeaders: parseSignedHeaders(signedHeaders, malformedQuery),
    signature: parseSignature(signature, malformedQuery),
    timestamp,
    expires: parseExpires(expires),
    ...(sessionToken === undefined ? {} : { sessionToken }),
    payloadHash: payloadHashOf(parameters, headers),
  };
}

/** Returns the payload hash of the query or the header. Without either the payload is unsigned. */
function payloadHashOf(parameters: ReadonlyMap<string, string>, headers: RequestHeaders): string {
  const inQuery = parameters.get('X-Amz-Content-Sha256');
  const inHeader = headerValue(headers, 'x-amz-content-sha256')?.trim();
  if (inQuery !== undefined && inHeader !== undefined && inQuery !== inHeader) {
    throw malformedQuery('X-Amz-Content-Sha256 of the query and x-amz-content-sha256 of the headers differ');
  }
  return inQuery ?? inHeader ?? 'UNSIGNED-PAYLOAD';
}

function parseExpires(text: string): number {
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (seconds < 1 || seconds > maxExpirySeconds) {
    throw malformedQuery(`X-Amz-Expires must be 1 to ${maxExpirySeconds} seconds (a week), not "${text.slice(0, 32)}"`);
  }
  return seconds;
}

function malformedQuery(why: string): S3Error {
  return new S3Error('AuthorizationQueryParametersError', `The presigned URL is not valid; ${why}.`);
}

/**
 * Reads what the request says about its signature, and verifies nothing. Returns undefined for an anonymous request, and the place of a
 * signature of version 2, which `parseAuthorizationV2` reads. `known` caches headers.
 *
 * @throws S3Error `AuthorizationHeaderMalformed`, `AuthorizationQueryParametersError`, `UnsupportedSignature` (other versions, and ECDSA),
 * `InvalidArgument` (another scheme, or two ways at once), `AccessDenied` (no valid date)
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html
 */
export function parseAuthorization(
  request: SignedRequest,
  known?: Pick<KnownAuthorizations, 'parse'>,
): SignatureClaim | SignatureOfVersion2 | undefined {
  const authorization = headerValue(request.headers, 'authorization');
  const presigned = presignedParameters(request.rawQuery);
  if (authorization === undefined) {
    if (presigned === 'version-2') return { kind: 'version-2', place: 'query' };
    return presigned && parsePresigned(presigned, request.headers);
  }
  if (presigned !== undefined) throw twoSignatures();
  if (/^AWS(?:\s|$)/.test(authorization)) return { kind: 'version-2', place: 'header' };
  return parseHeader(authorization.trim(), request, known);
}

/** A signature of version 2, still unread. */
interface SignatureOfVersion2 {
  readonly kind: 'version-2';
  readonly place: 'header' | 'query';
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
  if (scheme.startsWith('AWS4-') || scheme.startsWith('AWS3')) {
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
