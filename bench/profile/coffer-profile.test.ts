import { describe, expect, it } from 'vitest';
import { type CpuProfile, renderProfile, selfTimes } from './coffer-profile.ts';

const frame = (functionName: string, url = '') => ({ functionName, url, lineNumber: 9 });
const profile: CpuProfile = {
  nodes: [
    { id: 1, callFrame: frame('(idle)') },
    { id: 2, callFrame: frame('put', 'file:///x/coffer/server/s3/put-object.ts') },
    { id: 3, callFrame: frame('put', 'file:///x/coffer/server/s3/put-object.ts') },
    { id: 4, callFrame: frame('get', 'file:///x/coffer/server/s3/get-object.ts') },
  ],
  samples: [1, 2, 3, 4],
  timeDeltas: [600, 100, 200, 100],
};

describe('a profile', () => {
  it('sums the self time of a function over all its callers', () => {
    expect(selfTimes(profile)[1]).toEqual({ name: 'put server/s3/put-object.ts:10', microseconds: 300 });
  });

  it('reads as shares of the time that the thread was busy', () => {
    const text = renderProfile('put', [{ thread: '2', profile }]);
    expect(text).toContain('thread 2: busy 40 %');
    expect(text).toContain('  75.0 %  put server/s3/put-object.ts:10');
  });
});
