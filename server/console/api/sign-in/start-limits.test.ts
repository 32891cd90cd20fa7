import { describe, expect, it } from 'vitest';
import { StartLimits } from './start-limits.ts';

describe('sign-ins that begin', () => {
  it('are limited by network', () => {
    const limits = new StartLimits({ ofNetwork: 2, all: 100 });
    expect(['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2'].map((from) => limits.begin(from, 0))).toEqual([
      'may-start',
      'may-start',
      'too-many-here',
      'may-start',
    ]);
    expect(limits.begin('192.0.2.1', 60_000)).toBe('may-start');
  });

  it('are bounded as a whole, for as long as their records last', () => {
    const limits = new StartLimits({ ofNetwork: 10, all: 3 });
    const from = (host: number, now: number) => limits.begin(`192.0.2.${host}`, now);
    expect([1, 2, 3, 4].map((host) => from(host, 0))).toEqual(['may-start', 'may-start', 'may-start', 'too-many']);
    expect(from(5, 599_999)).toBe('too-many');
    expect(from(5, 600_000)).toBe('may-start');
  });
});
