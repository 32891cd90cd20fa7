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

/** Returns how a request is signed; undefined for an anonymous one and for schemes that are not signatures. `query` is decoded. */
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

/** Returns the claims that many providers have and that are texts; with `lists`, also those that are lists of texts. */
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

/** Characters of names and values beyond the claims that many providers have. They are stored with each session of the user. */
const maxClaims = 16_384;

/** How deep claims are nested whose names policies have. */
const maxDepth = 4;

interface PolicyClaims {
  readonly claims: Record<string, unknown>;
  /** `part` if there are too many names or too deep ones. */
  readonly claimsKept: 'all' | 'part';
}

/**
 * Returns all claims by the names that policies have for them: those of nested claims are joined by dots. The value of a claim that is neither
 * a text nor a list of texts, or is too long, is unknown: null. Policies do not tell names apart by case. If two claims with such names differ,
 * the value is unknown too, so that neither hides the other.
 */
export function policyClaims(claims: Readonly<Record<string, unknown>>): PolicyClaims {
  const found = new Map<string, unknown>();
  /** The names in `found` by their lower case. */
  const names = new Map<string, string>();
  const add = (name: string, value: unknown) => {
    found.set(name, value);
    names.set(name.toLowerCase(), name);
  };
  for (const name of knownClaims) {
    const value = claimAt(claims, name);
    if (value !== undefined) add(name, usable(value));
  }
  let claimsKept: PolicyClaims['claimsKept'] = 'all';
  let length = 0;
  for (const [name, value, depth] of namedClaims(claims, '')) {
    const kept = usable(value);
    const text = JSON.stringify(kept);
    const known = names.get(name.toLowerCase());
    if (known !== undefined) {
      if (JSON.stringify(found.get(known)) !== text) found.set(known, null);
      continue;
    }
    length += name.length;
    if (length > maxClaims || depth > maxDepth) {
      claimsKept = 'part';
      continue;
    }
    const fits = length + text.length <= maxClaims;
    add(name, fits ? kept : null);
    if (fits) length += text.length;
  }
  return { claims: Object.fromEntries(found), claimsKept };
}

function usable(value: unknown): string | string[] | null {
  return isText(value) || isTextList(value) ? value : null;
}

/** A claim whose own name has dots comes before a nested one. The names end with the first one that is too deep. */
function* namedClaims(
  claims: Readonly<Record<string, unknown>>,
  path: string,
  depth = 0,
): Generator<[name: string, value: unknown, depth: number]> {
  for (const [name, value] of Object.entries(claims)) yield [`${path}${name}`, value, depth];
  if (depth > maxDepth) return;
  for (const [name, value] of Object.entries(claims)) {
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      yield* namedClaims(value as Readonly<Record<string, unknown>>, `${path}${name}.`, depth + 1);
  }
}

/** Attributes of a directory that policies may use as `${ldap:…}`. */
const ldapNames = ['user', 'username', 'groups'];

interface Claimant {
  readonly source: 'openid' | 'ldap' | 'certificate' | 'custom';
  readonly claims: Readonly<Record<string, unknown>>;
  readonly claimsKept?: 'all' | 'part' | undefined;
}

/** The claims that older servers stored with sessions and access keys. */
const onceStored: ReadonlySet<string> = new Set(knownClaims.map((claim) => `jwt:${claim}`));

/**
 * Reports whether the claimant may have a claim whose value is not known here: it has another form or is too long, or the claims are not all
 * stored. `key` is a condition key in lower case.
 */
export function isUnknownClaim({ source, claims, claimsKept }: Claimant, key: string): boolean {
  const prefix = source === 'ldap' ? 'ldap:' : 'jwt:';
  if (source === 'certificate' || !key.startsWith(prefix)) return false;
  const name = Object.keys(claims).find((claim) => `${prefix}${claim.toLowerCase()}` === key);
  if (name !== undefined) return usable(claims[name]) === null;
  if (source === 'ldap') return false;
  return claimsKept === undefined ? !onceStored.has(key) : claimsKept === 'part';
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
    // The claim is there, and it has no value for conditions.
    else if (value !== undefined) context[name] = [];
  }
  return context;
}

function known(claimant: Claimant | undefined): (readonly [string, unknown])[] {
  if (claimant === undefined) return [];
  if (claimant.source === 'ldap') return ldapNames.map((name) => [`ldap:${name}`, claimant.claims[name]] as const);
  return Object.entries(claimant.claims).map(([name, value]) => [`jwt:${name}`, value] as const);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= maxText;
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText);
}
