import { expect, it } from 'vitest';
import { retryAfterMs } from './retry-after.ts';

const now = Date.UTC(2026, 0, 1);

it.each([
  ['3', 3000],
  ['0', 0],
  ['Thu, 01 Jan 2026 00:00:05 GMT', 5000],
  ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
  ['soon', undefined],
  ['', undefined],
])('Retry-After: %s', (value, expected) => {
  expect(retryAfterMs(value, now)).toBe(expected);
});

it('may be missing', () => {
  expect([undefined, null].map((value) => retryAfterMs(value, now))).toEqual([undefined, undefined]);
});
