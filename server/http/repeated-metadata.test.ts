import { describe, expect, it } from 'vitest';
import { joinRepeatedMetadata } from './repeated-metadata.ts';

const once = { headers: { 'x-amz-meta-a': '1, 2', host: 'h' }, rawHeaders: ['X-Amz-Meta-A', '1, 2', 'Host', 'h'] };
const twice = {
  headers: { 'x-amz-meta-a': '1, 2, 3', 'x-amz-meta-b': 'b', accept: 'x, y' },
  rawHeaders: ['x-amz-meta-a', '1, 2', 'X-Amz-Meta-B', 'b', 'Accept', 'x', 'X-Amz-Meta-A', '3', 'accept', 'y'],
};

describe('repeated metadata', () => {
  it('is joined by a comma', () => {
    expect(joinRepeatedMetadata(twice)).toEqual({ ...twice.headers, 'x-amz-meta-a': '1, 2,3' });
    expect(joinRepeatedMetadata(once)).toBe(once.headers);
  });
});
