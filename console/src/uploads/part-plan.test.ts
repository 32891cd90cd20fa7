import { describe, expect, it } from 'vitest';
import { isSameFile, missingParts, partSizeOf, renamedKey } from './part-plan.ts';

const mib = 1024 * 1024;

describe('partSizeOf', () => {
  it.each([
    [20 * mib, 8 * mib],
    [10 * 1024 * mib, 8 * mib],
    [5 * 1024 * 1024 * mib, 583 * mib],
  ])('of a file of %d bytes is %d', (size, part) => {
    expect(partSizeOf(size)).toBe(part);
    expect(Math.ceil(size / part)).toBeLessThan(10_000);
  });
});

it('leaves out the parts that are at the server', () => {
  expect(missingParts(25, 10, new Set([2]))).toEqual([
    { number: 1, start: 0, end: 10 },
    { number: 3, start: 20, end: 25 },
  ]);
});

it.each([
  [{ name: 'a', size: 1, lastModified: 2 }, true],
  [{ name: 'a', size: 1, lastModified: 3 }, false],
  [{ name: 'a', size: 2, lastModified: 2 }, false],
  [{ name: 'b', size: 1, lastModified: 2 }, false],
])('compares a file with %j', (other, same) => {
  expect(isSameFile({ name: 'a', size: 1, lastModified: 2 }, other)).toBe(same);
});

it.each([
  ['docs/a.txt', 1, 'docs/a (1).txt'],
  ['a.tar.gz', 2, 'a.tar (2).gz'],
  ['.env', 1, '.env (1)'],
  ['a.b/c', 1, 'a.b/c (1)'],
])('renames %s', (key, count, renamed) => {
  expect(renamedKey(key, count)).toBe(renamed);
});
