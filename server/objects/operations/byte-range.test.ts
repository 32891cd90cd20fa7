import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ByteRange } from '../contract/object-layer.ts';
import { parseRange, resolveRange } from './byte-range.ts';

describe('parseRange', () => {
  it.each([
    ['bytes=0-9', { kind: 'from', start: 0, endInclusive: 9 }],
    ['bytes=5-', { kind: 'from', start: 5 }],
    ['bytes=-5', { kind: 'last', bytes: 5 }],
    ['bytes=9-5', undefined],
    ['bytes=-', undefined],
    ['bytes= -1', undefined],
    ['bytes=0-1 ', undefined],
    ['bytes=0-1,3-4', undefined],
    ['bytes=99999999999999999-', undefined],
    ['items=0-1', undefined],
    [undefined, undefined],
  ])('%s', (text, expected) => {
    expect(parseRange(text)).toEqual(expected);
  });
});

describe('resolveRange', () => {
  it.each<[ByteRange, number, { start: number; end: number }]>([
    [{ kind: 'from', start: 0 }, 10, { start: 0, end: 10 }],
    [{ kind: 'from', start: 9 }, 10, { start: 9, end: 10 }],
    [{ kind: 'from', start: 0, endInclusive: 0 }, 10, { start: 0, end: 1 }],
    [{ kind: 'from', start: 5, endInclusive: 1e300 }, 10, { start: 5, end: 10 }],
    [{ kind: 'from', start: 5, endInclusive: Number.MAX_SAFE_INTEGER }, 10, { start: 5, end: 10 }],
    [{ kind: 'last', bytes: 3 }, 10, { start: 7, end: 10 }],
    [{ kind: 'last', bytes: 1e300 }, 10, { start: 0, end: 10 }],
  ])('%j of %d bytes is %j', (range, size, expected) => {
    expect(resolveRange(range, size)).toEqual(expected);
  });

  it.each<[ByteRange, number]>([
    [{ kind: 'from', start: 10 }, 10],
    [{ kind: 'from', start: 0 }, 0],
    [{ kind: 'from', start: 1e300 }, 10],
    [{ kind: 'from', start: 5, endInclusive: 4 }, 10],
    [{ kind: 'from', start: -1 }, 10],
    [{ kind: 'from', start: Number.NaN }, 10],
    [{ kind: 'last', bytes: 0 }, 10],
    [{ kind: 'last', bytes: 5 }, 0],
  ])('refuses %j of %d bytes', (range, size) => {
    expect(() => resolveRange(range, size)).toThrow(expect.objectContaining({ code: 'InvalidRange' }));
  });

  it('always lies inside the body', () => {
    const range = fc.oneof(
      fc.record({ kind: fc.constant('from' as const), start: fc.nat(20), endInclusive: fc.nat(30) }),
      fc.record({ kind: fc.constant('last' as const), bytes: fc.nat(30) }),
    );
    fc.assert(
      fc.property(range, fc.nat(20), (asked, size) => {
        try {
          const { start, end } = resolveRange(asked, size);
          return start >= 0 && start < end && end <= size;
        } catch {
          return true;
        }
      }),
    );
  });
});
