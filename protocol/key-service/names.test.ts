import { describe, expect, it } from 'vitest';
import { keyNameError, matchesListing, patternError } from './names.ts';

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
