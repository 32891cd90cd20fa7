import type { IncomingHttpHeaders } from 'node:http';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type {
  Checksum,
  DeleteConditions,
  ObjectInfo,
  ReadConditions,
  WriteConditions,
  ObjectHeaders,
} from '../objects/contract/object-layer.ts';
import { header } from './request.ts';
import type { CustomerKey } from '../encryption/object-key.ts';
import { checksumHeaders } from './request-body.ts';
import { encryptionHeaders } from './encryption-headers.ts';
import { expirationHeader } from './answers.ts';
import { decodeWords, encodeWords } from '../../protocol/s3/encoded-words.ts';

/** Reads `If-Match` and the other conditions of a read. `prefix` is `x-amz-copy-source-` for the source of a copy. */
export function readConditions(headers: IncomingHttpHeaders, prefix = ''): ReadConditions {
  if (prefix === '' && !hasReadConditions(headers)) return none;
  const ifModifiedSince = parseHttpDate(header(headers, `${prefix}if-modified-since`));
  const ifUnmodifiedSince = parseHttpDate(header(headers, `${prefix}if-unmodified-since`));
  return {
    ...etagConditions(headers, prefix),
    ...(ifModifiedSince === undefined ? {} : { ifModifiedSince }),
    ...(ifUnmodifiedSince === undefined ? {} : { ifUnmodifiedSince }),
  };
}

/** Most reads have no conditions. */
const none: ReadConditions = {};

function hasReadConditions(headers: IncomingHttpHeaders): boolean {
  return (
    headers['if-match'] !== undefined ||
    headers['if-none-match'] !== undefined ||
    headers['if-modified-since'] !== undefined ||
    headers['if-unmodified-since'] !== undefined
  );
}

/**
 * Reads the conditions of the write of an object; undefined if it has none. AWS takes `*` alone for If-None-Match, MinIO ETags too.
 *
 * @throws S3Error InvalidArgument: an If-None-Match that names nothing would let the write replace any object
 */
export function writeConditions(headers: IncomingHttpHeaders): WriteConditions | undefined {
  if (headers['if-match'] === undefined && headers['if-none-match'] === undefined) return undefined;
  const conditions = etagConditions(headers, '');
  if (conditions.ifNoneMatch?.length !== 0) return conditions;
  throw invalid('If-None-Match', header(headers, 'if-none-match') ?? '', '* or a list of ETags');
}

/** Reports whether a write replaces nothing: its `If-None-Match` has `*`. A list of ETags lets it replace all other objects. */
export function replacesNothing(headers: IncomingHttpHeaders): boolean {
  return headers['if-none-match'] !== undefined && etagConditions(headers, '').ifNoneMatch?.includes('*') === true;
}

/**
 * Reads the conditions of a write that replaces nothing: If-None-Match takes `*` alone.
 *
 * @throws S3Error NotImplemented, InvalidArgument
 */
export function createConditions(headers: IncomingHttpHeaders): WriteConditions | undefined {
  const conditions = writeConditions(headers);
  if (conditions?.ifNoneMatch === undefined || replacesNothing(headers)) return conditions;
  throw new S3Error('NotImplemented', 'If-None-Match takes * alone here.', { details: { Header: 'If-None-Match' } });
}

/** Reads the conditions of a delete; undefined if it has none. */
export function deleteConditions(headers: IncomingHttpHeaders): DeleteConditions | undefined {
  const ifMatch = etags(header(headers, 'if-match'), 'strong');
  const size = header(headers, 'x-amz-if-match-size');
  const time = header(headers, 'x-amz-if-match-last-modified-time');
  if (ifMatch === undefined && size === undefined && time === undefined) return undefined;
  if (size !== undefined && !/^\d{1,15}$/.test(size)) throw invalid('x-amz-if-match-size', size, 'a number of bytes');
  const lastModified = parseHttpDate(time);
  if (time !== undefined && lastModified === undefined) {
    throw invalid('x-amz-if-match-last-modified-time', time, 'a date of HTTP');
  }
  return { ifMatch, size: size === undefined ? undefined : Number(size), lastModified };
}

function invalid(name: string, value: string, what: string): S3Error {
  return new S3Error('InvalidArgument', `${name} must be ${what}.`, {
    details: { ArgumentName: name, ArgumentValue: value.slice(0, 100) },
  });
}

function etagConditions(headers: IncomingHttpHeaders, prefix: string): WriteConditions {
  const ifMatch = etags(header(headers, `${prefix}if-match`), 'strong');
  const ifNoneMatch = etags(header(headers, `${prefix}if-none-match`), 'weak');
  return {
    ...(ifMatch === undefined ? {} : { ifMatch }),
    ...(ifNoneMatch === undefined ? {} : { ifNoneMatch }),
  };
}

/**
 * Splits a list of ETags, with or without quotes. A strong comparison never finds one with `W/`, which says that the bytes may differ; it is
 * left out of the list, so that a list of such ETags matches nothing.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3.2
 */
function etags(text: string | undefined, comparison: 'strong' | 'weak'): readonly string[] | undefined {
  if (text === undefined) return undefined;
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => comparison === 'weak' || !part.startsWith('W/'))
    .map((part) => part.replace(/^W\//, ''))
    .filter((etag) => etag !== '')
    .map((etag) => etag.replace(/^"(.*)"$/, '$1'));
}

/** Parses an HTTP date. It ignores an invalid one (RFC 9110, 13.1.3). */
function parseHttpDate(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : new Date(time);
}

/**
 * Reports if `If-Range` (an ETag or a date) still matches. A request without it always matches.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-13.1.5
 */
export function ifRangeHolds(headers: IncomingHttpHeaders, info: ObjectInfo): boolean {
  const text = header(headers, 'if-range');
  if (text === undefined) return true;
  if (text.startsWith('"')) return text === `"${info.etag}"`;
  const date = parseHttpDate(text);
  return date !== undefined && Math.floor(info.lastModified.getTime() / 1_000) === Math.floor(date.getTime() / 1_000);
}

const dayMs = 86_400_000;

/** The last day that was formatted. Most objects are of a few days, and formatting a whole date costs five times as much. */
let last = { day: Number.NaN, text: '' };

/** Formats a date as `toUTCString` does: `Fri, 24 May 2013 00:00:00 GMT`. */
export function formatHttpDate(date: Date): string {
  const time = date.getTime();
  const day = Math.floor(time / dayMs);
  if (day !== last.day) last = { day, text: date.toUTCString().slice(0, -'00:00:00 GMT'.length) };
  const seconds = Math.floor((time - day * dayMs) / 1_000);
  const hour = Math.floor(seconds / 3_600);
  return `${last.text}${twoDigits(hour)}:${twoDigits(Math.floor(seconds / 60) % 60)}:${twoDigits(seconds % 60)} GMT`;
}

function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : `${value}`;
}

/** Reports whether a request has `x-amz-acl` or a grant. Most have none. */
export function hasAclHeaders(headers: IncomingHttpHeaders): boolean {
  return (
    headers['x-amz-acl'] !== undefined ||
    headers['x-amz-grant-full-control'] !== undefined ||
    headers['x-amz-grant-read'] !== undefined ||
    headers['x-amz-grant-write'] !== undefined ||
    headers['x-amz-grant-read-acp'] !== undefined ||
    headers['x-amz-grant-write-acp'] !== undefined
  );
}

const defaultContentType = 'binary/octet-stream';

/** The fields of `ObjectHeaders` that are one header each, with the name of the header. */
const headerFields = [
  ['contentType', 'content-type'],
  ['contentDisposition', 'content-disposition'],
  ['contentLanguage', 'content-language'],
  ['cacheControl', 'cache-control'],
  ['expires', 'expires'],
] as const;

/** Reads the headers of an upload that are stored with the object. */
export function storedHeaders(headers: IncomingHttpHeaders): ObjectHeaders {
  const stored: Record<string, string> = {};
  for (const [field, name] of headerFields) {
    const value = header(headers, name);
    if (value !== undefined && value !== '') stored[field] = value;
  }
  const contentEncoding = withoutChunking(header(headers, 'content-encoding'));
  if (contentEncoding !== undefined) stored['contentEncoding'] = contentEncoding;
  const storageClass = checkStorageClass(header(headers, 'x-amz-storage-class'));
  if (storageClass !== undefined) stored['storageClass'] = storageClass;
  const websiteRedirect = checkRedirect(header(headers, 'x-amz-website-redirect-location'));
  if (websiteRedirect !== undefined) stored['websiteRedirect'] = websiteRedirect;
  return { ...stored, metadata: userMetadata(headers) };
}

/**
 * Removes `aws-chunked`, which is the framing of the request and not a property of the object. All other text stays as it came, with its
 * spaces.
 */
function withoutChunking(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  const codings = text.split(',');
  const kept = codings.filter((coding) => coding.trim().toLowerCase() !== 'aws-chunked');
  if (kept.length === codings.length) return text;
  const rest = kept.join(',').trim();
  return rest === '' ? undefined : rest;
}

/**
 * Checks the page to which a website redirects. It is stored and returned; no website is served.
 *
 * @throws S3Error InvalidRedirectLocation
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/how-to-page-redirect.html
 */
function checkRedirect(location: string | undefined): string | undefined {
  if (location === undefined) return undefined;
  if (!/^(?:https?:\/\/|\/)/.test(location)) throw new S3Error('InvalidRedirectLocation');
  if (location.length <= 2_048) return location;
  throw new S3Error(
    'InvalidRedirectLocation',
    'The length of website redirect location cannot exceed 2,048 characters.',
  );
}

function checkStorageClass(name: string | undefined): string | undefined {
  if (name === undefined || name === 'STANDARD') return undefined;
  if (name === 'REDUCED_REDUNDANCY') return name;
  throw new S3Error(
    'InvalidStorageClass',
    `The storage class "${name.slice(0, 40)}" is not offered; use STANDARD or REDUCED_REDUNDANCY.`,
    { details: { StorageClassRequested: name.slice(0, 40) } },
  );
}

/** Returns the headers that were sent with an object to describe it, but for its metadata. */
export function descriptionOf(stored: ObjectHeaders): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': stored.contentType ?? defaultContentType };
  addDescription(headers, stored);
  return headers;
}

function addDescription(headers: Record<string, string>, stored: ObjectHeaders): void {
  if (stored.contentDisposition !== undefined) headers['content-disposition'] = stored.contentDisposition;
  if (stored.contentLanguage !== undefined) headers['content-language'] = stored.contentLanguage;
  if (stored.cacheControl !== undefined) headers['cache-control'] = stored.cacheControl;
  if (stored.expires !== undefined) headers['expires'] = stored.expires;
  if (stored.contentEncoding !== undefined) headers['content-encoding'] = stored.contentEncoding;
  if (stored.storageClass !== undefined) headers['x-amz-storage-class'] = stored.storageClass;
  if (stored.websiteRedirect !== undefined) headers['x-amz-website-redirect-location'] = stored.websiteRedirect;
}

/** Returns the headers that describe an object in answers to GET and HEAD. */
export function describingHeaders(
  info: ObjectInfo,
  options: { readonly checksum: Checksum | undefined; readonly customerKey?: CustomerKey | undefined },
): Record<string, string> {
  const headers: Record<string, string> = {
    etag: `"${info.etag}"`,
    'last-modified': formatHttpDate(info.lastModified),
    'content-type': info.contentType ?? defaultContentType,
    'accept-ranges': 'bytes',
  };
  if (info.versionId !== undefined) headers['x-amz-version-id'] = info.versionId;
  addDescription(headers, info);
  if (info.expiration !== undefined) headers['x-amz-expiration'] = expirationHeader(info.expiration);
  if (info.restore !== undefined) headers['x-amz-restore'] = restoreHeader(info.restore);
  if (info.replication !== undefined) headers['x-amz-replication-status'] = info.replication.status;
  addMetadataHeaders(headers, info.metadata);
  if (info.encryption !== undefined) Object.assign(headers, encryptionHeaders(info.encryption, options.customerKey));
  if (options.checksum !== undefined) Object.assign(headers, checksumHeaders(options.checksum));
  return headers;
}

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadObject.html */
function restoreHeader(restore: NonNullable<ObjectInfo['restore']>): string {
  if (restore.ongoing) return 'ongoing-request="true"';
  return `ongoing-request="false", expiry-date="${formatHttpDate(restore.until)}"`;
}

const metadataPrefix = 'x-amz-meta-';
/**
 * The limits of AWS: for names and values of user metadata together, and for all headers of a request that stores an object.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingMetadata.html
 */
const maxMetadataBytes = 2_048;
const maxHeaderBytes = 8_192;
/** The session tokens of this server are longer than those of AWS. */
const uncounted: ReadonlySet<string> = new Set(['authorization', 'x-amz-security-token']);

/**
 * Reads the metadata of an upload. Encoded words become text, as in S3.
 *
 * @throws S3Error RequestHeaderSectionTooLarge, MetadataTooLarge
 */
function userMetadata(headers: IncomingHttpHeaders): Record<string, string> {
  const metadata: Record<string, string> = {};
  let bytes = 0;
  let all = 0;
  for (const name of Object.keys(headers)) {
    const text = header(headers, name) ?? '';
    if (!uncounted.has(name)) all += name.length + text.length;
    if (!name.startsWith(metadataPrefix)) continue;
    const value = decodeWords(text);
    bytes += name.length - metadataPrefix.length + value.length;
    // Defines an own property also for a name like __proto__.
    Object.defineProperty(metadata, name.slice(metadataPrefix.length), { value, enumerable: true, configurable: true });
  }
  if (all > maxHeaderBytes) throw tooLarge('RequestHeaderSectionTooLarge', all, maxHeaderBytes);
  if (bytes > maxMetadataBytes) throw tooLarge('MetadataTooLarge', bytes, maxMetadataBytes);
  return metadata;
}

function tooLarge(code: 'MetadataTooLarge' | 'RequestHeaderSectionTooLarge', size: number, max: number): S3Error {
  return new S3Error(code, undefined, { details: { Size: String(size), MaxSizeAllowed: String(max) } });
}

/** Adds the headers of user metadata. Values that no header can show, with control characters, are counted instead. */
function addMetadataHeaders(headers: Record<string, string>, metadata: Readonly<Record<string, string>>): void {
  let missing = 0;
  for (const name of Object.keys(metadata)) {
    const value = metadata[name] ?? '';
    // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
    if (/[\u0000-\u0008\u000A-\u001F\u007F]/.test(value)) missing += 1;
    else headers[metadataPrefix + name] = encodeWords(value);
  }
  if (missing > 0) headers['x-amz-missing-meta'] = String(missing);
}
