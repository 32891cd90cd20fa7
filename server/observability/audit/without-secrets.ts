import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { redactText } from '../../../platform/redact-secrets.ts';

/** What stands in the place of a secret, as MinIO's own log has it. */
export const redacted = '*REDACTED*';

/** Names whose values are secrets: signatures, tokens, passwords, keys of clients (SSE-C), cookies; and the digest of such a key. */
const secretName =
  /authorization|signature|token|password|passwd|secret|cookie|customer-key|api-?key|client-?assertion|private/i;

/** They say where a listing goes on. */
const harmless = new Set(['continuation-token', 'next-continuation-token']);

/** Of what a provider sends browsers back with. */
const secretParameters = new Set(['code', 'state']);

/** Names whose values tell a body by its digest, and values of `x-amz-content-sha256` that do. */
const digestName =
  /^(?:etag|(?:x-amz-copy-source-)?if-(?:none-)?match|if-range|content-md5|x-amz-content-sha256|x-amz-checksum-(?:crc|sha).*)$/i;
const noDigest = /^(?:UNSIGNED|STREAMING)-/;

/**
 * Headers as MinIO's audit log has them: names in their usual case, one value each, secrets taken out; with `digests` false those of bodies
 * too.
 */
export function headersWithoutSecrets(
  headers: IncomingHttpHeaders | OutgoingHttpHeaders,
  { digests = true }: { readonly digests?: boolean } = {},
): Record<string, string> {
  const clean: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name === 'host') continue;
    const text = Array.isArray(value) ? value.join(', ') : String(value);
    const { shown, secret } = aboutHeader(name);
    const hidden = secret || (!digests && digestName.test(name) && !noDigest.test(text));
    clean[shown] = hidden ? redacted : withoutParameters(name, redactText(text));
  }
  return clean;
}

/** Parameters of a query; of one that repeats, all values. What cannot be decoded stands as it came. */
export function queryWithoutSecrets(
  rawQuery: string,
  { digests = true }: { readonly digests?: boolean } = {},
): Record<string, string> {
  const clean: Record<string, string> = {};
  if (rawQuery === '') return clean;
  for (const [name, value] of new URLSearchParams(rawQuery)) {
    const secret = !harmless.has(name) && (secretName.test(name) || secretParameters.has(name.toLowerCase()));
    const hidden = secret || (!digests && digestName.test(name) && !noDigest.test(value));
    const text = hidden ? redacted : redactText(value);
    clean[name] = clean[name] === undefined || hidden ? text : `${clean[name]},${text}`;
  }
  return clean;
}

/** Claims by their names alone: their values are what policies compare. */
export function claimsWithoutSecrets(claims: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(claims).map(([name, value]) => [name, secretName.test(name) ? redacted : value]),
  );
}

/** Addresses hold what was asked for, and at a sign-in what proves who asked. */
function withoutParameters(name: string, text: string): string {
  if (name !== 'location' && name !== 'referer') return text;
  const question = text.indexOf('?');
  return question < 0 ? text : `${text.slice(0, question)}?${redacted}`;
}

/** Clients send the same names over and over; those that somebody invents are not remembered without end. */
const knownHeaders = new Map<string, { readonly shown: string; readonly secret: boolean }>();
const mostKnown = 500;

function aboutHeader(name: string): { readonly shown: string; readonly secret: boolean } {
  const known = knownHeaders.get(name);
  if (known !== undefined) return known;
  const found = { shown: usualCase(name), secret: secretName.test(name) };
  if (knownHeaders.size < mostKnown) knownHeaders.set(name, found);
  return found;
}

/** `x-amz-date` is X-Amz-Date. */
function usualCase(name: string): string {
  return name.replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase());
}
