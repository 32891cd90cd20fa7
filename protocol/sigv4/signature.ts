import { createHmac, hash } from 'node:crypto';
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

const encodedPathAsItIs = /^[A-Za-z0-9\-._~/]*$/;
const encodedAsItIs = /^[A-Za-z0-9\-._~]*$/;

/** Matches a text whose escapes have upper-case digits. It may contain escapes that AWS would not write. */
const wellEscaped = /^(?:[A-Za-z0-9\-._~]|%[0-9A-F]{2})*$/;
const needlessEscape = /%(?:2[DE]|3\d|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE])/;

const encodedByte = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  return encodedAsItIs.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
});

/** Percent-encodes UTF-8 as AWS does: everything but `A-Z a-z 0-9 - . _ ~`. */
export function percentEncode(text: string): string {
  if (encodedAsItIs.test(text)) return text;
  let encoded = '';
  for (const byte of Buffer.from(text, 'utf8')) encoded += encodedByte[byte];
  return encoded;
}

/** Encodes as `percentEncode`, but keeps `/`: for object keys in paths. */
export function percentEncodePath(path: string): string {
  return encodedPathAsItIs.test(path) ? path : path.split('/').map(percentEncode).join('/');
}

/**
 * Normalizes what a client sent to the one encoding that signatures cover: `%2d`, `-` and `%2D` all mean `-`. It works on bytes, so that a
 * path that is no UTF-8 still has a canonical form. A `%` that begins no escape is literal.
 */
export function reencode(
  sent: string,
  options: { readonly keepSlash: boolean; readonly plusIsSpace: boolean },
): string {
  if (options.keepSlash ? encodedPathAsItIs.test(sent) : wellEscaped.test(sent) && !needlessEscape.test(sent))
    return sent;
  let encoded = '';
  for (let at = 0; at < sent.length; at += 1) {
    let byte = sent.charCodeAt(at) & 0xff;
    if (byte === 0x25) {
      const escape = sent.slice(at + 1, at + 3);
      if (/^[0-9A-Fa-f]{2}$/.test(escape)) {
        byte = Number.parseInt(escape, 16);
        at += 2;
      }
    } else if (byte === 0x2b && options.plusIsSpace) {
      byte = 0x20;
    }
    encoded += byte === 0x2f && options.keepSlash ? '/' : encodedByte[byte];
  }
  return encoded;
}

/** Decodes percent escapes to text. Returns undefined if an escape is broken or the bytes are no UTF-8. */
export function percentDecode(sent: string): string | undefined {
  if (!sent.includes('%')) return sent;
  try {
    return decodeURIComponent(sent);
  } catch {
    return undefined;
  }
}

/** Splits a raw query into its parameters, in their order and still encoded. `a` without `=` has the value ''. */
function rawParameters(rawQuery: string): [name: string, value: string][] {
  const parameters: [string, string][] = [];
  for (const parameter of rawQuery.split('&')) {
    if (parameter === '') continue;
    const equals = parameter.indexOf('=');
    parameters.push(equals < 0 ? [parameter, ''] : [parameter.slice(0, equals), parameter.slice(equals + 1)]);
  }
  return parameters;
}

/** Splits and decodes a query. `+` is a space, as every S3 server reads it. A value is undefined if it is not valid UTF-8. */
export function decodedParameters(rawQuery: string): [name: string, value: string | undefined][] {
  return rawParameters(rawQuery).map(([name, value]) => [decodeParameter(name) ?? name, decodeParameter(value)]);
}

function decodeParameter(sent: string): string | undefined {
  return percentDecode(sent.replaceAll('+', ' '));
}

/**
 * Returns the query as a signature covers it: re-encoded, sorted, without `X-Amz-Signature`. Clients in Go sort by the names alone and leave
 * several values of a name in the order of the request.
 */
export function canonicalQuery(rawQuery: string, order: 'sorted' | 'by-name' = 'sorted'): string {
  if (rawQuery === '') return '';
  const encoding = { keepSlash: false, plusIsSpace: true };
  return rawParameters(rawQuery)
    .map(([name, value]) => [reencode(name, encoding), reencode(value, encoding)] as const)
    .filter(([name]) => name !== 'X-Amz-Signature')
    .sort(
      ([nameA, valueA], [nameB, valueB]) =>
        compare(nameA, nameB) || (order === 'by-name' ? 0 : compare(valueA, valueB)),
    )
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

// Both are ASCII, so that the order of UTF-16 units is that of bytes.
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The protection and the framing of the body, from `x-amz-content-sha256`. */
export type PayloadKind =
  /** No hash covers the body (`UNSIGNED-PAYLOAD`, or no header at all). */
  | { readonly kind: 'unsigned' }
  /** The SHA-256 of the body, 64 hexadecimal digits in lower case. */
  | { readonly kind: 'sha256'; readonly sha256: string }
  /** aws-chunked framing: chunk signatures, a trailer, or both. */
  | { readonly kind: 'streaming'; readonly signed: boolean; readonly trailer: boolean };

/**
 * Reads how the body is protected and framed. Throws S3Error `NotImplemented` for ECDSA (Signature Version 4A), and `InvalidArgument` for a
 * text that is no hash.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html
 */
export function payloadKind(payloadHash: string | undefined): PayloadKind {
  const sent = payloadHash?.trim();
  switch (sent) {
    case undefined:
    case '':
    case 'UNSIGNED-PAYLOAD':
      return { kind: 'unsigned' };
    case 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD':
      return { kind: 'streaming', signed: true, trailer: false };
    case 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER':
      return { kind: 'streaming', signed: true, trailer: true };
    case 'STREAMING-UNSIGNED-PAYLOAD-TRAILER':
      return { kind: 'streaming', signed: false, trailer: true };
    default:
  }
  if (/^[0-9A-Fa-f]{64}$/.test(sent)) return { kind: 'sha256', sha256: sent.toLowerCase() };
  if (sent.startsWith('STREAMING-')) {
    throw new S3Error('NotImplemented', `The payload kind "${sent.slice(0, 64)}" is not implemented.`, {
      details: argument(sent),
    });
  }
  throw new S3Error(
    'InvalidArgument',
    'x-amz-content-sha256 must be UNSIGNED-PAYLOAD, a STREAMING-… kind, or 64 hexadecimal digits, not ' +
      `"${sent.slice(0, 64)}".`,
    { details: argument(sent) },
  );
}

function argument(sent: string): Record<string, string> {
  return { ArgumentName: 'x-amz-content-sha256', ArgumentValue: sent.slice(0, 100) };
}

/** Returns the names in `x-amz-trailer`, in lower case, or undefined without the header. */
export function announcedTrailers(headers: RequestHeaders): readonly string[] | undefined {
  return headerValue(headers, 'x-amz-trailer')
    ?.split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
}

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

/** 64 hexadecimal digits. */
export function computeSignature(
  signingKey: SigningKey,
  timestamp: string,
  scope: SignatureScope,
  canonicalHash: string,
): string {
  return sign(signingKey, `AWS4-HMAC-SHA256\n${timestamp}\n${formatScope(scope)}\n${canonicalHash}`);
}

/** The last timestamp that was parsed. All requests of one second have the same, and each request uses it three times. */
let lastRead: { readonly text: string; readonly time: number } = { text: '19700101T000000Z', time: 0 };

/** `20130524T000000Z`. */
export function formatTimestamp(date: Date): string {
  if (date.getTime() === lastRead.time) return lastRead.text;
  const day = `${date.getUTCFullYear()}${twoDigits(date.getUTCMonth() + 1)}${twoDigits(date.getUTCDate())}`;
  return `${day}T${twoDigits(date.getUTCHours())}${twoDigits(date.getUTCMinutes())}${twoDigits(date.getUTCSeconds())}Z`;
}

function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : `${value}`;
}

/** Parses `20130524T000000Z`. Returns undefined for another form or an instant that does not exist. */
export function parseTimestamp(text: string): Date | undefined {
  // A Date is mutable, so each caller gets one of its own.
  if (text === lastRead.text) return new Date(lastRead.time);
  const date = readTimestamp(text);
  if (date !== undefined) lastRead = { text, time: date.getTime() };
  return date;
}

function readTimestamp(text: string): Date | undefined {
  if (!/^\d{8}T\d{6}Z$/.test(text)) return undefined;
  const [year, month, day] = [twoAt(text, 0) * 100 + twoAt(text, 2), twoAt(text, 4), twoAt(text, 6)];
  const [hour, minute, second] = [twoAt(text, 9), twoAt(text, 11), twoAt(text, 13)];
  if (year < 1_000 || hour > 23 || minute > 59 || second > 59) return undefined;
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  // `Date` turns the 31st of February into a day in March, which differs from the text.
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date : undefined;
}

/** Reads two decimal digits. */
function twoAt(text: string, at: number): number {
  return (text.charCodeAt(at) - 0x30) * 10 + text.charCodeAt(at + 1) - 0x30;
}

/** Parses a `Date` header, `Fri, 24 May 2013 00:00:00 GMT`. boto3 writes `-0000` for GMT. */
export function parseHttpDate(text: string): Date | undefined {
  if (!/^[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} (GMT|UTC|[+-]0000)$/.test(text)) return undefined;
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** The sizes of SHA-256's blocks and of its result, in bytes. */
const block = 64;
const digest = 32;

/**
 * HMAC-SHA256 under one key for many short texts, by two plain hashes. Node's `createHmac` makes an object with a native half for each
 * text, which costs twice as much with its garbage collection.
 *
 * @see https://www.rfc-editor.org/rfc/rfc2104
 */
export class HmacSha256 {
  /** The padded key, then the text. */
  #inner: Buffer;
  /** The part of it that was hashed last: the texts of one client mostly have the same length. */
  #filled: Buffer;
  /** The padded key, then the hash of the inner. */
  readonly #outer: Buffer;

  /** @param key at most 64 bytes: a longer one would have to be hashed first */
  constructor(key: Buffer) {
    if (key.length > block) throw new RangeError(`a key of ${key.length} bytes is longer than ${block}`);
    this.#inner = Buffer.alloc(1_024, 0x36, 'latin1');
    this.#filled = this.#inner;
    this.#outer = Buffer.alloc(block + digest, 0x5c, 'latin1');
    for (const [at, byte] of key.entries()) {
      this.#inner[at] = 0x36 ^ byte;
      this.#outer[at] = 0x5c ^ byte;
    }
  }

  /** 64 hexadecimal digits. */
  sign(text: string): string {
    // A UTF-16 unit takes at most three bytes.
    const room = block + 3 * text.length;
    if (room > this.#inner.length) {
      this.#inner = Buffer.concat([this.#inner.subarray(0, block)], room);
      this.#filled = this.#inner;
    }
    const end = block + this.#inner.write(text, block, 'utf8');
    if (this.#filled.length !== end) this.#filled = this.#inner.subarray(0, end);
    this.#outer.write(hash('sha256', this.#filled), block, 'hex');
    return hash('sha256', this.#outer);
  }
}

/** The key of a day, region and service. It is an `HmacSha256` if it signs more than once. */
export type SigningKey = Buffer | HmacSha256;

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
export function deriveSigningKey(secretKey: string, scope: SignatureScope): Buffer {
  const date = hmac(`AWS4${secretKey}`, scope.date);
  const region = hmac(date, scope.region);
  const service = hmac(region, scope.service);
  return hmac(service, 'aws4_request');
}

function hmac(key: string | Buffer, data: string): Buffer {
  return createHmac('sha256', key).update(data, 'utf8').digest();
}

/** 64 hexadecimal digits. */
export function sign(key: SigningKey, text: string): string {
  return key instanceof HmacSha256 ? key.sign(text) : hmac(key, text).toString('hex');
}

/** `date/region/service/aws4_request`. */
export function formatScope(scope: SignatureScope): string {
  return `${scope.date}/${scope.region}/${scope.service}/aws4_request`;
}

/**
 * A bounded cache of signing keys, which saves four of the five HMACs of each request. The cache finds a key by its secret, so that a
 * changed secret never finds an old key. Keeping only the hash of the secret cost more than the cache saves: a reader of this memory can
 * read the credentials anyway.
 */
export class SigningKeys {
  readonly #keys = new Map<string, HmacSha256>();
  readonly #limit: number;

  constructor(limit = 1_000) {
    this.#limit = limit;
  }

  get(secretKey: string, scope: SignatureScope): HmacSha256 {
    const id = `${formatScope(scope)}/${secretKey}`;
    const known = this.#keys.get(id);
    if (known !== undefined) return known;
    const key = new HmacSha256(deriveSigningKey(secretKey, scope));
    // The oldest key goes first: on a new day no request uses the keys of the day before.
    for (const oldest of this.#keys.keys()) {
      if (this.#keys.size < this.#limit) break;
      this.#keys.delete(oldest);
    }
    this.#keys.set(id, key);
    return key;
  }
}
