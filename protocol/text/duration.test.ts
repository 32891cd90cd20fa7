import { describe, expect, it } from 'vitest';
import { durationMs, type DurationUnit } from './duration.ts';

const units: readonly DurationUnit[] = ['ms', 's', 'm', 'h', 'd'];

describe('a duration', () => {
  it.each([
    ['30s', 30_000],
    ['1h30m', 5_400_000],
    ['250ms', 250],
    ['7d10h31s', 640_831_000],
    ['1m1m', 120_000],
    ['0s', 0],
  ])('%s is %d ms', (text, expected) => {
    expect(durationMs(text, units)).toBe(expected);
  });

  it.each(['', '5', 's', '1w', '1.5h', '5mm', '-1s', '1s ', ' 1s', '1h 30m', '1234567890s', '1S'])(
    '"%s" is not one of whole numbers',
    (text) => {
      expect(durationMs(text, units)).toBeUndefined();
    },
  );
});

describe('a duration with fractions', () => {
  it.each<[string, number]>([
    ['1.5h', 5_400_000],
    ['.5s', 500],
    ['1.s', 1_000],
    ['1µs', 0.001],
    ['12345678901ms', 12_345_678_901],
  ])('%s is %d ms', (text, expected) => {
    expect(durationMs(text, [...units, 'us', 'µs', 'μs'], { fractions: true })).toBe(expected);
  });

  it.each(['.s', '1..5s', '1.2.3s', '.'])('"%s" is none', (text) => {
    expect(durationMs(text, units, { fractions: true })).toBeUndefined();
  });
});
