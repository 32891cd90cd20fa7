import { describe, expect, it } from 'vitest';
import { restartPause } from './supervisor.ts';

describe('the pause before a restart', () => {
  it('grows with each crash', () => {
    expect([1, 2, 3, 4].map((crashes) => restartPause(crashes, 0.5))).toEqual([250, 500, 1000, 2000]);
  });
  it('ends at half a minute', () => {
    expect(restartPause(1000, 0.5)).toBe(30_000);
  });
  it('is spread by a quarter either way', () => {
    expect([restartPause(1, 0), restartPause(1, 1)]).toEqual([188, 313]);
  });
});
