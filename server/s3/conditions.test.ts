import { describe, expect, it } from 'vitest';
import type { ObjectInfo } from '../objects/object-layer.ts';
import { ifRangeHolds, readConditions, writeConditions } from './conditions.ts';

describe('readConditions', () => {
  it.each([
    [{ 'if-match': '"a"' }, { ifMatch: ['a'] }],
    [{ 'if-match': 'a' }, { ifMatch: ['a'] }],
    [{ 'if-none-match': 'W/"a", "b" , *' }, { ifNoneMatch: ['a', 'b', '*'] }],
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

describe('writeConditions', () => {
  it('take * alone for If-None-Match', () => {
    expect(writeConditions({ 'if-none-match': '*' })).toEqual({ ifNoneMatch: ['*'] });
    expect(() => writeConditions({ 'if-none-match': '"a"' })).toThrow(
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
