import { sample, string } from 'fast-check';
import { expect, it } from 'vitest';

it('a string of binary units has code points of every kind, but no surrogate', () => {
  const text = sample(string({ unit: 'binary', minLength: 20, maxLength: 40 }), { numRuns: 200, seed: 1 }).join('');
  const points = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  expect(text.isWellFormed()).toBe(true);
  for (const [first, last] of [
    [0, 0x7f],
    [0x80, 0xd7ff],
    [0xe000, 0xffff],
    [0x1_0000, 0x10_ffff],
  ] as const)
    expect(points.some((point) => point >= first && point <= last)).toBe(true);
});
