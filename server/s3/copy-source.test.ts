import { describe, expect, it } from 'vitest';
import { copySource, parseCopyRange } from './copy-source.ts';

describe('parseCopyRange', () => {
  it('reads both ends', () => {
    expect(parseCopyRange('bytes=0-9')).toEqual({ kind: 'from', start: 0, endInclusive: 9 });
  });

  it.each(['bytes=5-', 'bytes=-5', 'bytes=9-5', '0-9', ''])('refuses %s', (text) => {
    expect(() => parseCopyRange(text)).toThrow(expect.objectContaining({ code: 'InvalidArgument' }));
  });
});

describe('copySource', () => {
  it.each([
    ['bucket', 'Copy Source must mention the source bucket and key: sourcebucket/sourcekey'],
    ['bucket/', 'Copy Source must mention the source bucket and key: sourcebucket/sourcekey'],
    ['bucket/%zz', 'Invalid copy source encoding'],
    ['192.168.1.1/key', 'Invalid copy source bucket name'],
    ['Bucket/key', 'Invalid copy source bucket name'],
  ])('refuses %s', (source, message) => {
    const request = { headers: { 'x-amz-copy-source': source } };
    expect(() =>
      copySource({ request, allowsCustomerKeys: true } as unknown as Parameters<typeof copySource>[0]),
    ).toThrow(
      expect.objectContaining({
        code: 'InvalidArgument',
        message,
        details: expect.objectContaining({ ArgumentValue: source }),
      }),
    );
  });
});
