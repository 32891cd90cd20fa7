import { describe, expect, it } from 'vitest';
import { parseDuration } from './duration.ts';

describe('a duration', () => {
  it.each([
    ['30s', 30_000],
    ['5m0s', 300_000],
    ['1h30m', 5_400_000],
    ['720h', 2_592_000_000],
    ['250ms', 250],
    ['1.5s', 1500],
    ['0', 0],
  ])('%s is %i ms', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  it.each(['', '5', 's', '-1s', '5 m', '5x', `${'9'.repeat(30)}h`])('is not %j', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
});
