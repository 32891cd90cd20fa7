import { S3Error } from '../s3/s3-error.ts';

/** The parts of a request that a signature covers, as they go over the wire. */
export interface SignedRequest {
  readonly method: string;
  /** Percent-encoded as sent, beginning with `/`. */
  readonly rawPath: string;
  /** Without `?`, as sent. */
  readonly rawQuery: string;
  /** Names in lower case. */
  readonly headers: RequestHeaders;
}

export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The scope of a signing key: `<date>/<region>/<service>/aws4_request`. */
export interface SignatureScope {
  /** `YYYYMMDD`. */
  readonly date: string;
  readonly region: string;
  readonly service: string;
}

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

export interface Credentials {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly sessionToken?: string;
}

/** Returns the value of a header that must not repeat. Several values are joined as node joins them. */
export function headerValue(headers: RequestHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' || value === undefined ? value : value.join(',');
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
export function parseSignedHeaders(text: string, fail: (why: string) => S3Error): string[] {
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

export function parseSignature(text: string, fail: (why: string) => S3Error): string {
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
    accessKey,
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

export function malformed(why: string): S3Error {
  return new S3Error('AuthorizationHeaderMalformed', `The authorization header is malformed; ${why}.`);
}

/** The number of digits of a signature. Every client puts it at the end of the header. */
const signatureLength = 64;
/** Characters. A longer header is not cached, so that unauthenticated callers cannot fill the memory. */
const longestKept = 1_024;

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
    if (rest.length <= longestKept && /,\s*Signature=$/.test(rest)) this.#keep(rest, fields);
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
