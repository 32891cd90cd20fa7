import { describe, expect, it } from 'vitest';
import { keyNameError, matchesListing, matchesPattern, patternError } from './names.ts';

describe('key names', () => {
  it.each(['my-key', 'A_b-9', '-', 'x'.repeat(80)])('accepts %s', (name) => {
    expect(keyNameError(name)).toBeUndefined();
  });

  it.each([
    ['', 'invalid argument: name is empty'],
    ['x'.repeat(81), 'invalid argument: name is too long'],
    ['a/b', 'invalid argument: name contains invalid character'],
    ['..', 'invalid argument: name contains invalid character'],
    ['a*', 'invalid argument: name contains invalid character'],
    ['a\n', 'invalid argument: name contains invalid character'],
  ])('refuses %j in the words of the protocol', (name, message) => {
    expect(keyNameError(name)).toBe(message);
  });

  it('lets a pattern hold stars', () => {
    expect(patternError('my-*')).toBeUndefined();
    expect(patternError('my-?')).toBe('invalid argument: name contains invalid character');
  });
});

describe('matchesPattern', () => {
  it.each([
    ['*', 'anything', true],
    ['my-*', 'my-key', true],
    ['my-*', 'your-key', false],
    ['*-key', 'my-key', true],
    ['a*c*e', 'abcde', true],
    ['a*c*e', 'abde', false],
    ['ab*ba', 'aba', false],
    ['exact', 'exact', true],
    ['exact', 'exactly', false],
  ])('%s against %s is %s', (pattern, name, expected) => {
    expect(matchesPattern(pattern, name)).toBe(expected);
  });

  it('answers at once where a careless matcher would try every split', () => {
    expect(matchesPattern(`${'a*'.repeat(40)}b`, 'a'.repeat(80))).toBe(false);
  });
});

describe('matchesListing', () => {
  it.each([
    ['my-', 'my-key', true],
    ['my-key', 'my-key', true],
    ['my-', 'your-key', false],
    ['*-key', 'my-key-2', false],
  ])('%s against %s is %s', (pattern, name, expected) => {
    expect(matchesListing(pattern, name)).toBe(expected);
  });
});
