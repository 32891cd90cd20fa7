import { expect, it } from 'vitest';
import { bytesOf, splitBytes } from './quota-size.ts';

it.each([
  [0, '', 'GiB'],
  [5 * 1024 ** 3, '5', 'GiB'],
  [1536 * 1024 ** 2, '1536', 'MiB'],
  [2 * 1024 ** 4, '2', 'TiB'],
  [1024 ** 2 + 512 * 1024, '1.5', 'MiB'],
])('shows %d bytes as %s %s, and reads them back', (bytes, count, unit) => {
  expect(splitBytes(bytes)).toEqual({ count, unit });
  expect(bytesOf({ count, unit })).toBe(bytes);
});

it.each(['', '-1', 'x'])('takes %j for no quota', (count) => {
  expect(bytesOf({ count, unit: 'GiB' })).toBe(0);
});
