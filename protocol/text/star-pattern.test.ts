import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { matchesStars } from './star-pattern.ts';

it.each([
  ['', '', true],
  ['', 'a', false],
  ['*', '', true],
  ['a', 'a', true],
  ['a', 'ab', false],
  ['a*', 'a', true],
  ['*a', 'ba', true],
  ['a*a', 'a', false],
  ['a*b*c', 'abc', true],
  ['a*b*b', 'ab', false],
  ['a*bc*c', 'abcc', true],
  ['a**b', 'ab', true],
  ['a.c', 'abc', false],
  ['a*c*e', 'abcde', true],
  ['a*c*e', 'abde', false],
  ['ab*ba', 'aba', false],
])('"%s" and "%s": %s', (pattern, text, expected) => {
  expect(matchesStars(pattern, text)).toBe(expected);
});

it('matches as the regular expression of the pattern', () => {
  const few = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 });
  fc.assert(
    fc.property(few, fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 12 }), (pattern, text) => {
      expect(matchesStars(pattern, text)).toBe(new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(text));
    }),
  );
});

it('answers at once where a careless matcher would try every split', () => {
  expect(matchesStars(`${'a*'.repeat(40)}b`, 'a'.repeat(80))).toBe(false);
});
