import { expect, it } from 'vitest';
import { maySwap } from './start.ts';

const none = 'Filename\tType\tSize\tUsed\tPriority\n';
const one = `${none}/dev/sda2 partition 8388604 0 -2\n`;

it.each([
  ['no device', none, 'max\n', false],
  ['a device', one, 'max\n', true],
  ['a device and no control group', one, undefined, true],
  ['a device that the control group may not use', one, '0\n', false],
  ['another system than Linux', undefined, undefined, false],
])('tells whether memory may be swapped: %s', (_, swaps, limit, expected) => {
  expect(maySwap({ swaps, limit })).toBe(expected);
});
