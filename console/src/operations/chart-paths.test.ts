import { describe, expect, it } from 'vitest';
import { areaPath, linePath, niceMax } from './chart-paths.ts';

const plot = { width: 100, height: 12, max: 10, count: 3 };

describe('niceMax', () => {
  it.each([
    [0, 1],
    [Number.NaN, 1],
    [0.3, 0.5],
    [7, 10],
    [10, 10],
    [21, 25],
    [1_001, 2_000],
  ])('of %d is %d', (value, max) => expect(niceMax(value)).toBeCloseTo(max));
});

describe('the paths of a chart', () => {
  it('go from the left to the right', () => {
    expect(linePath([0, 5, 10], plot)).toBe('M0.0,11.0L50.0,6.0L100.0,1.0');
  });
  it('are interrupted where values are unknown', () => {
    expect(linePath([0, undefined, 10], plot)).toBe('M0.0,11.0h1M100.0,1.0h1');
  });
  it('are empty without values', () => {
    expect(linePath([undefined, undefined], plot)).toBe('');
    expect(areaPath([], plot)).toBe('');
  });
  it('close the area at the bottom', () => {
    expect(areaPath([0, 10], { ...plot, count: 2 })).toBe('M0.0,12L0.0,11.0L100.0,1.0L100.0,12Z');
  });
  it('cut values above the largest one', () => {
    expect(linePath([20, 20], { ...plot, count: 2 })).toBe('M0.0,1.0L100.0,1.0');
  });
});
