import { describe, expect, it } from 'vitest';
import { isValidElement } from 'react';
import { listed, rich, say } from './say.ts';

const entries = { one: '{count} entry of {bucket}', other: '{count} entries of {bucket}' } as const;

describe('say', () => {
  it('puts values where their names are', () => {
    expect(say('{key} is as it was on {time}, {key}.', { key: 'a', time: 'Monday' })).toBe(
      'a is as it was on Monday, a.',
    );
  });

  it.each([
    [1, '1 entry of b'],
    [0, '0 entries of b'],
    [12_345, '12,345 entries of b'],
  ])('chooses the form for %d', (count, text) => {
    expect(say(entries, { bucket: 'b', count })).toBe(text);
  });

  it('leaves a value with braces as it is', () => {
    expect(say('Delete {name}?', { name: '{other}' })).toBe('Delete {other}?');
  });
});

it('keeps the elements of a rich text', () => {
  const parts = rich('as of {command}', { command: 'mc' });
  expect(Array.isArray(parts) && parts.every(isValidElement)).toBe(true);
});

it('lists words as the language does', () => {
  expect(listed(['a', 'b'], 'or')).toBe('a or b');
  expect(listed(['a', 'b', 'c'], 'and')).toBe('a, b, and c');
});
