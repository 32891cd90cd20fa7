import { describe, expect, it } from 'vitest';
import { counted } from './counted.ts';

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
