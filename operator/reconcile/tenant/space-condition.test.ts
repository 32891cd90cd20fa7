import { describe, expect, it } from 'vitest';
import { spaceCondition } from './space-condition.ts';

const free = (percent: number, wasReported = false) =>
  spaceCondition({ free: percent * 10, total: 1_000 }, wasReported)?.reason;

describe('the volume of a store', () => {
  it.each([
    [100, undefined],
    [10, undefined],
    [9.9, 'NearlyFull'],
    [1, 'NearlyFull'],
    [0.9, 'Full'],
    [0, 'Full'],
  ])('with %d %% free is %s', (percent, reason) => {
    expect(free(percent)).toBe(reason);
  });
  it('that was nearly full has room again with some more, so that the condition does not come and go', () => {
    expect(free(11, true)).toBe('NearlyFull');
    expect(free(12, true)).toBeUndefined();
  });
  it.each([undefined, { free: 0, total: 0 }])('that tells %j has no condition', (space) => {
    expect(spaceCondition(space, false)).toBeUndefined();
  });
});
