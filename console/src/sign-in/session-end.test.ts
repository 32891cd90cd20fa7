import { expect, it } from 'vitest';
import { endOf } from './session-end.ts';

const now = Date.parse('2026-01-01T00:00:00Z');

it.each([
  ['2026-01-01T00:01:01Z', 'running', 61],
  ['2026-01-01T00:01:00Z', 'ending', 60],
  ['2026-01-01T00:00:00.200Z', 'ending', 1],
  ['2026-01-01T00:00:00Z', 'over', 0],
  ['2025-12-31T00:00:00Z', 'over', 0],
])('a session until %s is %s, with %d s', (expires, state, seconds) => {
  expect(endOf(expires, now)).toEqual({ state, seconds });
});
