import { hash } from 'node:crypto';
import type { RequestHeaders } from './signed-request.ts';

interface CanonicalParts {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** One line per header: names in lower case, in the order of `signedHeaders`. */
  readonly headerLines: string;
  readonly signedHeaders: readonly string[];
  readonly payloadHash: string;
}

/**
 * Writes one line per signed header. It trims the value, makes runs of white space one space, and joins repeated values by `,`.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
export function canonicalHeaders(headers: RequestHeaders, signed: readonly string[]): string {
  let lines = '';
  for (const name of signed) {
    const value = headers[name] ?? '';
    lines += `${name}:${typeof value === 'string' ? canonicalValue(value) : value.map(canonicalValue).join(',')}\n`;
  }
  return lines;
}

/** Values hold one character per byte. Only the white space of ASCII counts, because A0 and 85 are also parts of UTF-8 characters. */
function canonicalValue(value: string): string {
  if (!/[\t\n\v\f\r ]/.test(value)) return value;
  return value
    .replaceAll(/[\t\n\v\f\r ]+/g, ' ')
    .replace(/^ /, '')
    .replace(/ $/, '');
}

/** Returns the canonical request, one character for each byte. */
export function canonicalRequest(parts: CanonicalParts): string {
  const { method, path, query, headerLines, signedHeaders, payloadHash } = parts;
  return `${method}\n${path}\n${query}\n${headerLines}\n${signedHeaders.join(';')}\n${payloadHash}`;
}

/**
 * Computes the hex SHA-256 of the canonical request. Header values hold one character per byte, as node:http takes and gives them. `latin1`
 * hashes those bytes, `utf8` the characters that they are in ISO-8859-1.
 */
export function hashCanonicalRequest(parts: CanonicalParts, encoding: 'latin1' | 'utf8' = 'latin1'): string {
  const request = canonicalRequest(parts);
  // Nearly all requests are ASCII, where the bytes of UTF-8 are the same, so that no buffer is needed.
  return hash('sha256', Buffer.byteLength(request) === request.length ? request : Buffer.from(request, encoding));
}
