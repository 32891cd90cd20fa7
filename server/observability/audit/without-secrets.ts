import { textOfHeader } from '../../../protocol/header-text.ts';
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { redactText } from '../../../platform/output/redact-secrets.ts';

/** The replacement of a secret, as in MinIO's own log. */
export const redacted = '*REDACTED*';

/** Names whose values are secret: signatures, tokens, passwords, keys of clients (SSE-C), cookies, and the digest of such a key. */
const secretName =
  /authorization|signature|token|password|passwd|secret|cookie|customer-key|api-?key|client-?assertion|private/i;

/** Listings continue at these. */
const harmless = new Set(['continuation-token', 'next-continuation-token']);

/** Parameters that a provider sends browsers back with. */
const secretParameters = new Set(['code', 'state']);

/** Names whose values reveal a body by its digest, and values of `x-amz-content-sha256` that do not. */
const digestNames = String.raw`etag|(?:x-amz-(?:copy|rename)-source-)?if-(?:none-)?match|if-range|content-md5|x-amz-content-sha256|x-minio-source-etag|x-amz-checksum-(?!(?:type|mode|algorithm)$).*`;
const digestName = new RegExp(`^(?:${digestNames})$`, 'i');
const noDigest = /^(?:UNSIGNED|STREAMING)-/;

/**
 * Returns the headers as MinIO's audit log has them: names in their usual case, one value each, secrets removed; with `digests` false,
 * digests of bodies are removed too.
 */
export function headersWithoutSecrets(
  headers: IncomingHttpHeaders | OutgoingHttpHeaders,
  { digests = true }: { readonly digests?: boolean } = {},
): Record<string, string> {
  // A map, as for the query.
  const clean = new Map<string, string>();
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name === 'host') continue;
    const text = Array.isArray(value) ? value.join(', ') : String(value);
    const { shown, secret } = aboutHeader(name);
    const hidden = secret || (!digests && digestName.test(name) && !noDigest.test(text));
    clean.set(shown, hidden ? redacted : withoutParameters(name, redactText(textOfHeader(text))));
  }
  return Object.fromEntries(clean);
}

/** Returns the parameters of a query, with all values of a repeated one. A value that cannot be decoded is kept as it is. */
export function queryWithoutSecrets(
  rawQuery: string,
  { digests = true }: { readonly digests?: boolean } = {},
): Record<string, string> {
  if (rawQuery === '') return {};
  // A map: `constructor` and `__proto__` are names as others.
  const clean = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(rawQuery)) {
    const hidden = isSecretParameter(name) || (!digests && digestName.test(name) && !noDigest.test(value));
    const text = hidden ? redacted : redactText(value);
    const before = clean.get(name);
    clean.set(name, before === undefined || hidden ? text : `${before},${text}`);
  }
  return Object.fromEntries(clean);
}

/** Finds every query with a name of a secret or of a digest, and some others. Names of parameters may be encoded by `%`. */
const mayHaveSecret = new RegExp([secretName.source, ...secretParameters, digestNames, '%'].join('|'), 'i');

/** Returns a query as it was sent, with `placeholder` for the values of secrets and of digests of bodies. */
export function rawQueryWithoutSecrets(rawQuery: string, placeholder: string): string {
  if (!mayHaveSecret.test(rawQuery)) return rawQuery;
  return rawQuery
    .split('&')
    .map((parameter) => {
      const equals = parameter.indexOf('=');
      if (equals < 0) return parameter;
      const [name, value] = [decoded(parameter.slice(0, equals)), parameter.slice(equals + 1)];
      const isDigest = digestName.test(name) && !noDigest.test(value);
      return isDigest || isSecretParameter(name) ? `${parameter.slice(0, equals)}=${placeholder}` : parameter;
    })
    .join('&');
}

function isSecretParameter(name: string): boolean {
  return !harmless.has(name) && (secretName.test(name) || secretParameters.has(name.toLowerCase()));
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll('+', ' '));
  } catch {
    return name;
  }
}

/** Removes secrets from claims by their names: policies compare their values. */
export function claimsWithoutSecrets(claims: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(claims).map(([name, value]) => [name, secretName.test(name) ? redacted : value]),
  );
}

/** URLs contain what was asked for, and at a sign-in the proof of the identity. */
function withoutParameters(name: string, text: string): string {
  if (name !== 'location' && name !== 'referer') return text;
  const question = text.indexOf('?');
  return question < 0 ? text : `${text.slice(0, question)}?${redacted}`;
}

/** Clients repeat a few names; the cache is bounded against invented ones. */
const knownHeaders = new Map<string, { readonly shown: string; readonly secret: boolean }>();
const maxKnown = 500;

function aboutHeader(name: string): { readonly shown: string; readonly secret: boolean } {
  const known = knownHeaders.get(name);
  if (known !== undefined) return known;
  const found = { shown: usualCase(name), secret: secretName.test(name) };
  if (knownHeaders.size < maxKnown) knownHeaders.set(name, found);
  return found;
}

/** `x-amz-date` is X-Amz-Date. */
function usualCase(name: string): string {
  return name.replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase());
}
