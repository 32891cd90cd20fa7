import { S3Error } from '../s3/s3-error.ts';
import { parseCredential } from './parse-credential.ts';
import { isSignature, parseSignature, parseSignedHeaders } from './parse-signed-parts.ts';
import type { SignatureScope } from './signed-request.ts';

export const algorithm = 'AWS4-HMAC-SHA256';

/** What the Authorization header of a request says. */
export interface AuthorizationFields {
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

/** Digits of a signature, which every client puts at the end of the header. */
const signatureLength = 64;
/** Characters. Beyond, a header is read anew each time, so that what strangers send cannot fill the memory. */
const longestKept = 1_024;

/**
 * A bounded memory of Authorization headers without their signatures: those of one client differ in nothing else all day, and reading
 * the rest again cost a tenth of a small request. What is remembered is only how a text reads, nothing of whether it is right.
 */
export class KnownAuthorizations {
  readonly #known = new Map<string, Omit<AuthorizationFields, 'signature'>>();
  readonly #limit: number;

  constructor(limit = 1_000) {
    this.#limit = limit;
  }

  /** As `parseFields`. */
  parse(authorization: string): AuthorizationFields {
    const rest = authorization.slice(0, -signatureLength);
    const signature = authorization.slice(rest.length);
    const known = this.#known.get(rest);
    if (known !== undefined && isSignature(signature)) return { ...known, signature };
    const fields = parseFields(authorization);
    // Only where the last field is the signature: otherwise the end of the text is something else.
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
