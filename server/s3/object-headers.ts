import type { IncomingHttpHeaders } from 'node:http';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { CustomerKey } from '../encryption/object-key.ts';
import type { ObjectHeaders, ObjectInfo } from '../objects/object-layer.ts';
import { checksumHeaders } from './request-body.ts';
import { encryptionHeaders } from './encryption-headers.ts';
import { header } from './request.ts';

const dayMs = 86_400_000;

/** The last day that was formatted. Most objects are of a few days, and formatting a whole date costs five times as much. */
let last = { day: Number.NaN, text: '' };

/** Formats a date as `toUTCString` does: `Fri, 24 May 2013 00:00:00 GMT`. */
export function httpDate(date: Date): string {
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

const metadataPrefix = 'x-amz-meta-';
/**
 * The limit for names and values together, as in AWS.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingMetadata.html
 */
const maxMetadataBytes = 2_048;
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

function checkStorageClass(name: string | undefined): string | undefined {
  if (name === undefined || name === 'STANDARD') return undefined;
  if (name === 'REDUCED_REDUNDANCY') return name;
  throw new S3Error(
    'InvalidStorageClass',
    `The storage class "${name.slice(0, 40)}" is not offered; use STANDARD or REDUCED_REDUNDANCY.`,
  );
}

function userMetadata(headers: IncomingHttpHeaders): Record<string, string> {
  const metadata: Record<string, string> = {};
  let bytes = 0;
  for (const name of Object.keys(headers)) {
    if (!name.startsWith(metadataPrefix)) continue;
    const value = header(headers, name) ?? '';
    bytes += name.length - metadataPrefix.length + value.length;
    // Defines an own property also for a name like __proto__.
    Object.defineProperty(metadata, name.slice(metadataPrefix.length), { value, enumerable: true, configurable: true });
  }
  if (bytes > maxMetadataBytes) {
    throw new S3Error('MetadataTooLarge', undefined, {
      details: { Size: String(bytes), MaxSizeAllowed: String(maxMetadataBytes) },
    });
  }
  return metadata;
}

/** Returns the headers that describe an object in answers to GET and HEAD. */
export function describingHeaders(
  info: ObjectInfo,
  options: { readonly checksum: boolean; readonly customerKey?: CustomerKey | undefined },
): Record<string, string> {
  const headers: Record<string, string> = {
    etag: `"${info.etag}"`,
    'last-modified': httpDate(info.lastModified),
    'content-type': info.contentType ?? defaultContentType,
    'accept-ranges': 'bytes',
  };
  if (info.contentDisposition !== undefined) headers['content-disposition'] = info.contentDisposition;
  if (info.contentLanguage !== undefined) headers['content-language'] = info.contentLanguage;
  if (info.cacheControl !== undefined) headers['cache-control'] = info.cacheControl;
  if (info.expires !== undefined) headers['expires'] = info.expires;
  if (info.contentEncoding !== undefined) headers['content-encoding'] = info.contentEncoding;
  if (info.storageClass !== undefined) headers['x-amz-storage-class'] = info.storageClass;
  for (const name of Object.keys(info.metadata)) headers[metadataPrefix + name] = info.metadata[name] ?? '';
  if (info.encryption !== undefined) Object.assign(headers, encryptionHeaders(info.encryption, options.customerKey));
  if (options.checksum) Object.assign(headers, checksumHeaders(info.checksum));
  return headers;
}
