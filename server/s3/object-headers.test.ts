import { describe, expect, it } from 'vitest';
import type { ObjectInfo } from '../objects/contract/object-layer.ts';
import {
  ifRangeHolds,
  readConditions,
  createConditions,
  writeConditions,
  formatHttpDate,
  describingHeaders,
  storedHeaders,
} from './object-headers.ts';
import { array, assert, date as anyDate, property } from 'fast-check';

describe('readConditions', () => {
  it.each([
    [{ 'if-match': '"a"' }, { ifMatch: ['a'] }],
    [{ 'if-match': 'a' }, { ifMatch: ['a'] }],
    [{ 'if-none-match': 'W/"a", "b" , *' }, { ifNoneMatch: ['a', 'b', '*'] }],
    // If-Match compares strongly.
    [{ 'if-match': 'W/"a", "b"' }, { ifMatch: ['b'] }],
    [{ 'if-match': 'W/"a"' }, { ifMatch: [] }],
    [{ 'if-modified-since': 'Sat, 01 Jan 2000 00:00:00 GMT' }, { ifModifiedSince: new Date('2000-01-01T00:00:00Z') }],
    [{ 'if-unmodified-since': 'yesterday' }, {}],
    [{}, {}],
  ])('reads %o', (headers, expected) => {
    expect(readConditions(headers)).toEqual(expected);
  });

  it('reads those of the source of a copy', () => {
    expect(readConditions({ 'x-amz-copy-source-if-match': '"a"', 'if-match': '"b"' }, 'x-amz-copy-source-')).toEqual({
      ifMatch: ['a'],
    });
  });
});

describe('the conditions of a write', () => {
  it('take * and ETags for If-None-Match', () => {
    expect(writeConditions({ 'if-none-match': '*' })).toEqual({ ifNoneMatch: ['*'] });
    expect(writeConditions({ 'if-none-match': '"a", "b"' })).toEqual({ ifNoneMatch: ['a', 'b'] });
  });

  it.each(['', ' ', ',', 'W/', ', W/ ,'])('refuse If-None-Match: "%s", which names nothing', (text) => {
    const refused = expect.objectContaining({ code: 'InvalidArgument' }) as Error;
    expect(() => writeConditions({ 'if-none-match': text })).toThrow(refused);
    expect(() => createConditions({ 'if-none-match': text })).toThrow(refused);
  });

  it('take the empty ETag, which no object has', () => {
    expect(writeConditions({ 'if-none-match': '""' })).toEqual({ ifNoneMatch: [''] });
    expect(writeConditions({ 'if-match': '""' })).toEqual({ ifMatch: [''] });
  });

  it('take * alone for If-None-Match where nothing may be replaced', () => {
    expect(createConditions({ 'if-none-match': '*' })).toEqual({ ifNoneMatch: ['*'] });
    expect(() => createConditions({ 'if-none-match': '"a"' })).toThrow(
      expect.objectContaining({ code: 'NotImplemented' }),
    );
  });
});

describe('ifRangeHolds', () => {
  const info = { etag: 'a', lastModified: new Date('2000-01-01T00:00:00.500Z') } as ObjectInfo;
  it.each([
    [undefined, true],
    ['"a"', true],
    ['"b"', false],
    ['W/"a"', false],
    ['Sat, 01 Jan 2000 00:00:00 GMT', true],
    ['Sat, 01 Jan 2000 00:00:01 GMT', false],
    ['nonsense', false],
  ])('%s: %s', (value, expected) => {
    expect(ifRangeHolds(value === undefined ? {} : { 'if-range': value }, info)).toBe(expected);
  });
});

describe('formatHttpDate', () => {
  it('writes what toUTCString writes, whichever was written before', () => {
    assert(
      property(array(anyDate({ noInvalidDate: true }), { minLength: 1, maxLength: 4 }), (dates) => {
        for (const date of dates) expect(formatHttpDate(date)).toBe(date.toUTCString());
      }),
    );
  });

  it('distinguishes the last millisecond of a day from the first of the next', () => {
    expect(formatHttpDate(new Date(86_399_999))).toBe('Thu, 01 Jan 1970 23:59:59 GMT');
    expect(formatHttpDate(new Date(86_400_000))).toBe('Fri, 02 Jan 1970 00:00:00 GMT');
    expect(formatHttpDate(new Date(-1))).toBe('Wed, 31 Dec 1969 23:59:59 GMT');
  });
});

const metadata = (size: number) => ({ 'x-amz-meta-a': 'x'.repeat(size - 1) });

describe('storedHeaders', () => {
  it('keep what describes the object, and no other header', () => {
    const headers = {
      'content-type': 'text/plain',
      'cache-control': 'no-cache',
      'x-amz-meta-colour': 'blue',
      'x-amz-meta-__proto__': 'x',
      'x-amz-acl': 'public-read',
      authorization: 'secret',
    };
    const stored = storedHeaders(headers);
    expect({ ...stored, metadata: Object.entries(stored.metadata) }).toEqual({
      contentType: 'text/plain',
      cacheControl: 'no-cache',
      metadata: [
        ['colour', 'blue'],
        ['__proto__', 'x'],
      ],
    });
  });

  it.each([
    ['aws-chunked', undefined],
    ['aws-chunked,gzip', 'gzip'],
    ['gzip, AWS-Chunked', 'gzip'],
    ['gzip, br', 'gzip, br'],
    ['', undefined],
  ])('take the framing out of the encoding "%s"', (given, kept) => {
    expect(storedHeaders({ 'content-encoding': given }).contentEncoding).toBe(kept);
  });

  it('count names and values of metadata, and take exactly 2 KiB', () => {
    expect(() => storedHeaders(metadata(2_048))).not.toThrow();
    expect(() => storedHeaders(metadata(2_049))).toThrow(expect.objectContaining({ code: 'MetadataTooLarge' }));
  });

  it.each([[{ 'x-amz-storage-class': 'GLACIER' }, 'InvalidStorageClass']])(
    'refuse %o instead of losing its meaning',
    (headers, code) => {
      expect(() => storedHeaders(headers)).toThrow(expect.objectContaining({ code }));
    },
  );
});

describe('describingHeaders', () => {
  const info: ObjectInfo = {
    bucket: 'b',
    key: 'k',
    size: 1,
    etag: 'e',
    lastModified: new Date('2000-01-01T00:00:00.700Z'),
    metadata: {},
    checksum: { algorithm: 'SHA256', value: 'v', type: 'COMPOSITE' },
  };

  it('quote the ETag and format the time as HTTP does', () => {
    expect(describingHeaders(info, { checksum: undefined })).toEqual({
      etag: '"e"',
      'last-modified': 'Sat, 01 Jan 2000 00:00:00 GMT',
      'content-type': 'binary/octet-stream',
      'accept-ranges': 'bytes',
    });
  });

  it('have the checksum only on request', () => {
    expect(describingHeaders(info, { checksum: info.checksum })).toMatchObject({
      'x-amz-checksum-sha256': 'v',
      'x-amz-checksum-type': 'COMPOSITE',
    });
  });
});
