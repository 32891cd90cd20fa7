import { expect, it } from 'vitest';
import { printable } from './printable.ts';

it.each([
  ['Grüße 你好', 'Grüße 你好'],
  ['a\nb\tc', String.raw`a\x0ab\x09c`],
  ['\u001b[31m', String.raw`\x1b[31m`],
  ['\u0085\u009b', String.raw`\x85\x9b`],
  ['a\u202Egpj', String.raw`a\u202egpj`],
])('%j is printed as %s', (text, expected) => {
  expect(printable(text)).toBe(expected);
});
