import type { IncomingHttpHeaders } from 'node:http';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { DeleteConditions, ObjectInfo, ReadConditions, WriteConditions } from '../objects/object-layer.ts';
import { header } from './request.ts';

/** Reads `If-Match` and the other conditions of a read. `prefix` is `x-amz-copy-source-` for the source of a copy. */
export function readConditions(headers: IncomingHttpHeaders, prefix = ''): ReadConditions {
  if (prefix === '' && !hasReadConditions(headers)) return none;
  const ifModifiedSince = httpDate(header(headers, `${prefix}if-modified-since`));
  const ifUnmodifiedSince = httpDate(header(headers, `${prefix}if-unmodified-since`));
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

/** Reads the conditions of a write. S3 accepts only `*` for If-None-Match. */
export function writeConditions(headers: IncomingHttpHeaders): WriteConditions {
  const conditions = etagConditions(headers, '');
  if (conditions.ifNoneMatch !== undefined && !conditions.ifNoneMatch.includes('*')) {
    throw new S3Error('NotImplemented', 'If-None-Match of a write takes * alone.');
  }
  return conditions;
}

/** Reads the conditions of a delete; undefined if it has none. */
export function deleteConditions(headers: IncomingHttpHeaders): DeleteConditions | undefined {
  const ifMatch = etags(header(headers, 'if-match'));
  const size = header(headers, 'x-amz-if-match-size');
  const time = header(headers, 'x-amz-if-match-last-modified-time');
  if (ifMatch === undefined && size === undefined && time === undefined) return undefined;
  if (size !== undefined && !/^\d{1,15}$/.test(size)) throw invalid('x-amz-if-match-size', size, 'a number of bytes');
  const lastModified = httpDate(time);
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
  const ifMatch = etags(header(headers, `${prefix}if-match`));
  const ifNoneMatch = etags(header(headers, `${prefix}if-none-match`));
  return {
    ...(ifMatch === undefined ? {} : { ifMatch }),
    ...(ifNoneMatch === undefined ? {} : { ifNoneMatch }),
  };
}

/** Splits a list of ETags, with or without quotes and `W/`. */
function etags(text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return undefined;
  return text
    .split(',')
    .map((part) =>
      part
        .trim()
        .replace(/^W\//, '')
        .replace(/^"(.*)"$/, '$1'),
    )
    .filter((etag) => etag !== '');
}

/** Parses an HTTP date. It ignores an invalid one (RFC 9110, 13.1.3). */
function httpDate(text: string | undefined): Date | undefined {
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
  const date = httpDate(text);
  return date !== undefined && Math.floor(info.lastModified.getTime() / 1_000) === Math.floor(date.getTime() / 1_000);
}
