import { describe, expect, it } from 'vitest';
import { parseCopyRange } from './copy-source.ts';

describe('parseCopyRange', () => {
  it('reads both ends', () => {
    expect(parseCopyRange('bytes=0-9')).toEqual({ kind: 'from', start: 0, endInclusive: 9 });
  });

  it.each(['bytes=5-', 'bytes=-5', 'bytes=9-5', '0-9', ''])('refuses %s', (text) => {
    expect(() => parseCopyRange(text)).toThrow(expect.objectContaining({ code: 'InvalidArgument' }));
  });
});
