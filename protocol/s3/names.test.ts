import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { percentEncodePath } from '../uri/percent-encoding.ts';
import { bucketNameError, checkObjectKey, parseResourcePath } from './names.ts';
import { S3Error } from './s3-error.ts';

function codeOf(action: () => unknown): string {
  try {
    action();
    return 'none';
  } catch (error) {
    if (error instanceof S3Error) return error.code;
    throw error;
  }
}

describe('bucket names', () => {
  it.each(['abc', 'my-bucket', 'my.bucket.1', '0ab', 'a'.repeat(63), 'a1.2.3.4', 'minio-data'])('takes %s', (name) => {
    expect(bucketNameError(name)).toBeUndefined();
  });

  it.each([
    '',
    'ab',
    'a'.repeat(64),
    'My-bucket',
    'my_bucket',
    '-abc',
    'abc-',
    '.abc',
    'abc.',
    'a..b',
    'a.-b',
    'a-.b',
    '192.168.1.1',
    'xn--abc',
    'sthree-abc',
    'abc-s3alias',
    'abc--ol-s3',
    'minio',
    'bücket',
    'a/b',
    'a b',
  ])('refuses "%s"', (name) => {
    expect(bucketNameError(name)).toBeTypeOf('string');
  });
});

describe('object keys', () => {
  it.each(['../x', '.', '..', 'a//b', '/a', 'a/', ' ', '\n', 'ключ', '🙂', 'a'.repeat(1_024)])(
    'takes %j literally',
    (key) => {
      expect(codeOf(() => checkObjectKey(key))).toBe('none');
    },
  );

  it.each([
    ['', 'InvalidArgument'],
    ['a\0b', 'InvalidArgument'],
    ['\ud800', 'InvalidArgument'],
    ['a'.repeat(1_025), 'KeyTooLongError'],
    ['ü'.repeat(513), 'KeyTooLongError'],
  ])('refuses %j', (key, code) => {
    expect(codeOf(() => checkObjectKey(key))).toBe(code);
  });
});

describe('the path of a request', () => {
  it.each<[string, { bucket?: string; key?: string }]>([
    ['/', {}],
    ['/bucket', { bucket: 'bucket' }],
    ['/bucket/', { bucket: 'bucket' }],
    ['/bucket/a/b', { bucket: 'bucket', key: 'a/b' }],
    ['/bucket//a//', { bucket: 'bucket', key: '/a//' }],
    ['/bucket/../x', { bucket: 'bucket', key: '../x' }],
    ['/bucket/%2e%2e/x', { bucket: 'bucket', key: '../x' }],
    ['/bucket/a%2Fb+c%20d', { bucket: 'bucket', key: 'a/b+c d' }],
    ['/bucket/%C3%BC', { bucket: 'bucket', key: 'ü' }],
    ['/bucket/\xc3\xbc', { bucket: 'bucket', key: 'ü' }],
    ['/bucket/%2541', { bucket: 'bucket', key: '%41' }],
  ])('%s', (path, expected) => {
    expect(parseResourcePath(path)).toEqual(expected);
  });

  it.each([
    ['', 'InvalidURI'],
    ['bucket/key', 'InvalidURI'],
    ['/bucket/%zz', 'InvalidURI'],
    ['/bucket/%', 'InvalidURI'],
    ['/bucket/%ff', 'InvalidURI'],
    ['/bucket/\xff', 'InvalidURI'],
    ['/bucket/%C0%80', 'InvalidURI'],
    ['/bucket/%00', 'InvalidArgument'],
    ['//key', 'InvalidBucketName'],
    ['/Bucket/key', 'InvalidBucketName'],
  ])('refuses %j by %s', (path, code) => {
    expect(codeOf(() => parseResourcePath(path))).toBe(code);
  });

  const character = fc
    .oneof(fc.integer({ min: 0, max: 0x2ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
    .map((point) => String.fromCodePoint(point));

  it('gives back every key that is encoded', () => {
    fc.assert(
      fc.property(fc.string({ unit: character, minLength: 1, maxLength: 200 }), (key) => {
        fc.pre(codeOf(() => checkObjectKey(key)) === 'none');
        expect(parseResourcePath(`/bucket/${percentEncodePath(key)}`)).toEqual({ bucket: 'bucket', key });
      }),
    );
  });
});
