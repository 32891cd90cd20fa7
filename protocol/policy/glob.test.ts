import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matches, parsePattern } from './glob.ts';

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

  it('agree with regular expressions where segments are long and texts too', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 100, maxLength: 400 });
    const segment = fc.string({ unit: fc.constantFrom('a', 'a', 'b', '?', '?'), minLength: 20, maxLength: 80 });
    const cut = fc.tuple(text, fc.nat(300), fc.nat(80), fc.array(fc.boolean(), { maxLength: 40 }));
    // Half of them taken from the text, so that they are found.
    const found = cut.map(([text, start, length, wild]) => {
      const units = text.slice(start, start + length).split('');
      const part = units.map((unit, index) => (wild[index] ? '?' : unit)).join('');
      return [text, `*${part}*`] as const;
    });
    fc.assert(
      fc.property(
        fc.oneof(
          found,
          fc.tuple(
            text,
            segment.map((part) => `*${part}*`),
          ),
        ),
        ([text, pattern]) => {
          expect(matches(parsePattern(pattern), text)).toBe(asRegExp(pattern).test(text));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('cost no second whatever the pattern and the text', () => {
    const text = 'a'.repeat(16_384);
    const hostile = [`*${'a?'.repeat(990)}b*`, `*${'a?'.repeat(100)}${'a'.repeat(1_700)}b*`, `*${'?'.repeat(900)}b*`];
    const started = process.cpuUsage();
    for (const pattern of hostile) expect(matches(parsePattern(pattern), text)).toBe(false);
    expect(process.cpuUsage(started).user).toBeLessThan(1e6);
  });

  it('do not backtrack exponentially', () => {
    // A regular expression of this form would not come back within anybody's lifetime.
    expect(matches(parsePattern(`${'a*'.repeat(200)}b`), 'a'.repeat(2_000))).toBe(false);
  });
});
