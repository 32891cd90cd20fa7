import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matches, parsePattern } from './wildcard.ts';

function asRegExp(pattern: string): RegExp {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 's');
}

describe('wildcards', () => {
  it.each([
    ['*', '', true],
    ['?', '', false],
    ['', '', true],
    ['', 'a', false],
    ['bucket/*', 'bucket/a/b', true],
    ['bucket/*', 'bucket', false],
    ['a*b*c', 'aXXbYYbc', true],
    ['a*b*c', 'aXXbYYcb', false],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['**a', 'a', true],
    ['a.c', 'abc', false],
  ])('%s on "%s" is %s', (pattern, text, expected) => {
    expect(matches(parsePattern(pattern), text)).toBe(expected);
  });

  it('agree with regular expressions', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.'), maxLength: 12 });
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.', '*', '?'), maxLength: 10 });
    fc.assert(
      fc.property(pattern, text, (pattern, text) => {
        expect(matches(parsePattern(pattern), text)).toBe(asRegExp(pattern).test(text));
      }),
      { numRuns: 3_000 },
    );
  });

  it('do not backtrack exponentially', () => {
    // A regular expression of this form would not come back within anybody's lifetime.
    expect(matches(parsePattern(`${'a*'.repeat(200)}b`), 'a'.repeat(2_000))).toBe(false);
  });
});
