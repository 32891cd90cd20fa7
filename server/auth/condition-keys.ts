import { claimAt } from '../../platform/openid/claims.ts';
import { knownClaims } from '../../protocol/policy/known-names.ts';

export interface RequestOrigin {
  readonly remoteAddress: string;
  readonly secure: boolean;
  /** Returns the version of TLS, e.g. `1.3`; absent for a connection without TLS. */
  readonly tlsVersion?: (() => string | undefined) | undefined;
}

/** Returns the condition keys that requests to every API have, so that a Deny by one of them holds everywhere. */
export function connectionContext(
  { remoteAddress, secure, tlsVersion }: RequestOrigin,
  now: Date,
  userAgent?: string,
): Record<string, readonly string[]> {
  const tls = tlsVersion?.();
  return {
    ...(userAgent === undefined ? {} : { 'aws:UserAgent': [userAgent] }),
    ...(tls === undefined ? {} : { 's3:TlsVersion': [tls] }),
    'aws:SourceIp': [remoteAddress],
    'aws:SecureTransport': [String(secure)],
    ...timeContext(now),
  };
}

/** The kind of signature that a request claims, by the names of S3's access logs and CloudTrail. Nothing is verified. */
export interface SignatureKind {
  readonly version: 'SigV4' | 'SigV2';
  readonly method: 'AuthHeader' | 'QueryString' | 'HtmlForm';
}

/** Returns how a request is signed; undefined for an anonymous one and for schemes that are no signature. `query` is decoded. */
export function signatureKind(
  headers: { readonly authorization?: string | undefined },
  query: { has(name: string): boolean },
): SignatureKind | undefined {
  const { authorization } = headers;
  if (authorization?.startsWith('AWS4-') === true) return { version: 'SigV4', method: 'AuthHeader' };
  if (authorization?.startsWith('AWS ') === true) return { version: 'SigV2', method: 'AuthHeader' };
  if (query.has('X-Amz-Signature')) return { version: 'SigV4', method: 'QueryString' };
  return query.has('AWSAccessKeyId') ? { version: 'SigV2', method: 'QueryString' } : undefined;
}

export function timeContext(now: Date): Record<string, readonly string[]> {
  return {
    'aws:CurrentTime': [now.toISOString()],
    'aws:EpochTime': [String(Math.floor(now.getTime() / 1_000))],
  };
}

/** Characters. Names of buckets and keys are not longer. */
const maxText = 1_024;

/** Returns the claims that policies can use. With `lists`, it keeps claims that are lists of texts. */
export function variableClaims(
  claims: Readonly<Record<string, unknown>>,
  options: { readonly lists: boolean },
): Record<string, unknown> {
  const kept = knownClaims.flatMap((name) => {
    const value = claimAt(claims, name);
    const usable = options.lists ? isText(value) || isTextList(value) : isText(value);
    return usable ? [[name, value] as const] : [];
  });
  return Object.fromEntries(kept);
}

/** Attributes of a directory that policies may use as `${ldap:…}`. */
const ldapNames = ['user', 'username', 'groups'];

interface Claimant {
  readonly source: 'openid' | 'ldap' | 'certificate' | 'custom';
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Returns the values of `${jwt:…}` and `${ldap:…}`. It leaves lists out, because a list has no single value for a resource. */
export function claimVariables(claimant: Claimant | undefined): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const [name, value] of known(claimant)) if (isText(value)) variables[name] = value;
  return variables;
}

/** Returns the same claims as condition keys, which can have several values. */
export function claimContext(claimant: Claimant | undefined): Record<string, readonly string[]> {
  const context: Record<string, readonly string[]> = {};
  for (const [name, value] of known(claimant)) {
    if (isText(value)) context[name] = [value];
    else if (isTextList(value)) context[name] = value;
  }
  return context;
}

function known(claimant: Claimant | undefined): (readonly [string, unknown])[] {
  if (claimant === undefined) return [];
  const [prefix, usable] = claimant.source === 'ldap' ? ['ldap', ldapNames] : ['jwt', knownClaims];
  return usable.map((name) => [`${prefix}:${name}`, claimant.claims[name]] as const);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= maxText;
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText);
}
