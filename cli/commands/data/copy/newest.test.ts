import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isNewest } from './newest.ts';

const original = (seconds: number, etag: string) => ({ seconds, isCopy: false, etag });
const copy = (seconds: number, etag: string) => ({ seconds, isCopy: true, etag });

describe('of two objects of a key', () => {
  it.each([
    ['a newer one', original(2, 'a'), original(1, 'b'), true],
    ['an older one', original(1, 'b'), original(2, 'a'), false],
    ['a copy of the other one', copy(1, 'a'), original(1, 'a'), false],
    ['one of which the other was copied, changed within the second', original(1, 'b'), copy(1, 'a'), true],
    ['the same', original(1, 'a'), original(1, 'a'), false],
  ])('%s replaces or does not', (_, first, second, expected) => {
    expect(isNewest(first, second)).toBe(expected);
  });

  it('at most one replaces the other', () => {
    const standing = fc.record({
      seconds: fc.integer({ min: 0, max: 3 }),
      isCopy: fc.boolean(),
      etag: fc.constantFrom('a', 'b'),
    });
    fc.assert(
      fc.property(standing, standing, (first, second) => {
        expect(isNewest(first, second) && isNewest(second, first)).toBe(false);
      }),
    );
  });
});
