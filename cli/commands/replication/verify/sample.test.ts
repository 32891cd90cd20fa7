import { expect, it } from 'vitest';
import { parseSample, Sampler } from './sample.ts';

it.each([
  [undefined, { kind: 'all' }],
  ['1%', { kind: 'share', share: 0.01 }],
  ['0.5%', { kind: 'share', share: 0.005 }],
  ['100%', { kind: 'share', share: 1 }],
  ['500', { kind: 'count', count: 500 }],
])('reads %j', (text, expected) => {
  expect(parseSample(text)).toEqual(expected);
});

it.each(['', '0', '0%', '101%', '1.5', '-1', 'x', '1 %', '9999999'])('refuses %j', (text) => {
  expect(() => parseSample(text)).toThrow(`Invalid --sample \`${text}\``);
});

it('takes a share as the numbers fall', () => {
  const numbers = [0.1, 0.4, 0.6];
  const sampler = new Sampler<string>({ kind: 'share', share: 0.5 }, () => numbers.shift() ?? 1);
  expect(['a', 'b', 'c'].map((item) => sampler.take(item))).toEqual([true, true, false]);
});

it('takes a number of items, each with the same chance', () => {
  const counts = { a: 0, b: 0, c: 0, d: 0 };
  // Each of the 3 places of the third item and the 4 of the fourth one, once.
  for (const third of [0, 1, 2]) {
    for (const fourth of [0, 1, 2, 3]) {
      const numbers = [(third + 0.5) / 3, (fourth + 0.5) / 4];
      const sampler = new Sampler<keyof typeof counts>({ kind: 'count', count: 2 }, () => numbers.shift() ?? 1);
      for (const item of ['a', 'b', 'c', 'd'] as const) expect(sampler.take(item)).toBe(false);
      for (const item of sampler.chosen) counts[item] += 1;
    }
  }
  expect(counts).toEqual({ a: 6, b: 6, c: 6, d: 6 });
});
