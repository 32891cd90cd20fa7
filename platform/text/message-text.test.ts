import { describe, expect, it } from 'vitest';
import { counted, timeoutText } from './message-text.ts';

describe('counted', () => {
  it.each([
    [0, '0 objects'],
    [1, '1 object'],
    [2, '2 objects'],
  ])('writes %i with the form of the noun', (count, text) => {
    expect(counted(count, 'object')).toBe(text);
  });

  it('takes a plural that is not formed by an s', () => {
    expect([1, 2].map((count) => counted(count, 'entry is', 'entries are'))).toEqual(['1 entry is', '2 entries are']);
  });
});

it.each([
  [1, '1 ms'],
  [999, '999 ms'],
  [1_000, '1 s'],
  [1_500, '1.5 s'],
  [30_000, '30 s'],
])('writes %d milliseconds as %s', (ms, text) => {
  expect(timeoutText(ms)).toBe(text);
});
