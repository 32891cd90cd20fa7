import { describe, expect, it } from 'vitest';
import { median, percentile, quartiles, spread } from './statistics.ts';

describe('percentile', () => {
  it.each([
    [0.5, 50],
    [0.99, 99],
    [1, 100],
    [0, 1],
  ])('%d of 1 to 100 is %i', (share, expected) => {
    expect(
      percentile(
        Uint32Array.from({ length: 100 }, (_, at) => at + 1),
        share,
      ),
    ).toBe(expected);
  });

  it('is no number of no values', () => {
    expect(percentile(new Uint32Array(), 0.5)).toBeNaN();
  });
});

describe('median', () => {
  it.each([
    [[3, 1, 2], 2],
    [[4, 1, 3, 2], 2.5],
    [[7], 7],
  ])('of %j is %d', (values, expected) => {
    expect(median(values)).toBe(expected);
  });
});

describe('quartiles', () => {
  it.each([
    [
      [6, 1, 5, 2, 4, 3],
      [2, 5],
    ],
    [
      [5, 1, 4, 2, 3],
      [2, 4],
    ],
    [[7], [7, 7]],
  ])('of %j are %j', (values, expected) => {
    expect(quartiles(values)).toEqual(expected);
  });
});

describe('spread', () => {
  it('is the median with the lowest and the highest', () => {
    expect(spread([5, 1, 3])).toEqual({ median: 3, min: 1, max: 5 });
  });
});
