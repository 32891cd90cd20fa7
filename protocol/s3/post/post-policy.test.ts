import { anything, array, assert, constantFrom, oneof, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkPostPolicy, type FormFields } from './post-policy.ts';
import { S3Error } from '../s3-error.ts';

const now = new Date('2026-01-01T00:00:00Z');
const expiration = '2026-01-01T01:00:00Z';
const fields = (values: Readonly<Record<string, string>>): FormFields =>
  new Map(Object.entries(values).map(([name, value]) => [name.toLowerCase(), { name, value }]));
const encode = (document: unknown) => Buffer.from(JSON.stringify(document)).toString('base64');
const ofBucket = { bucket: 'photos' };

function check(conditions: unknown, form: Readonly<Record<string, string>> = {}, more: object = {}) {
  return checkPostPolicy(encode({ expiration, conditions, ...more }), fields(form), 'photos', now);
}

function refusal(run: () => unknown): readonly [string, string] {
  try {
    run();
  } catch (error) {
    if (error instanceof S3Error) return [error.code, error.message];
    throw error;
  }
  return ['', ''];
}

const until = (time: string) => refusal(() => check([ofBucket], {}, { expiration: time }));

describe('checkPostPolicy', () => {
  it.each([
    [[ofBucket, { key: 'a' }], { key: 'a' }],
    [[ofBucket, ['eq', '$key', 'a']], { key: 'a' }],
    [[ofBucket, ['starts-with', '$key', 'user/']], { key: 'user/a' }],
    [[ofBucket, ['starts-with', '$key', '']], { key: 'anything' }],
    [[{ bUcKeT: 'photos' }, ['StArTs-WiTh', '$KeY', 'a']], { kEy: 'ab' }],
    [[ofBucket, ['starts-with', '$Content-Type', 'image/']], { 'Content-Type': 'image/a, image/b' }],
    [[ofBucket, ['starts-with', '$x-amz-meta-a', '']], {}],
    [[ofBucket], { 'x-ignore-foo': 'a', policy: 'p', 'x-amz-signature': 's', AWSAccessKeyId: 'k', signature: 's' }],
    [[ofBucket, ['starts-with', '$key', '\\$foo']], { key: '\\$foo.txt' }],
    [[ofBucket, { bucket: 'photos' }], { bucket: 'photos' }],
    [[ofBucket, { key: 'a' }, ['starts-with', '$key', 'a']], { key: 'a' }],
  ])('%j allows %j', (conditions, form) => {
    expect(check(conditions, form)).toEqual({ min: 0, max: Number.MAX_SAFE_INTEGER });
  });

  it.each([
    [[ofBucket, { key: 'a' }], { key: 'b' }, 'Policy Condition failed: ["eq", "$key", "a"]'],
    [[ofBucket, ['eq', '$Key', 'a"b']], { key: 'b' }, 'Policy Condition failed: ["eq", "$Key", "a\\"b"]'],
    [[ofBucket, ['eq', '$key', 'A']], { key: 'a' }, 'Policy Condition failed: ["eq", "$key", "A"]'],
    [[ofBucket, ['eq', 'key', 'a']], { key: 'a' }, 'Policy Condition failed: ["eq", "key", "a"]'],
    [[ofBucket, ['starts-with', 'key', '']], { key: 'a' }, 'Policy Condition failed: ["starts-with", "key", ""]'],
    [[ofBucket, ['eq', '$x-amz-meta-a', '']], {}, 'Policy Condition failed: ["eq", "$x-amz-meta-a", ""]'],
    [
      [ofBucket, ['starts-with', '$x-amz-meta-a', 'b']],
      {},
      'Policy Condition failed: ["starts-with", "$x-amz-meta-a", "b"]',
    ],
    [
      [ofBucket, ['starts-with', '$Content-Type', 'image/']],
      { 'Content-Type': 'image/a,text/html' },
      'Policy Condition failed: ["starts-with", "$Content-Type", "image/"]',
    ],
    [[{ bucket: 'others' }], {}, 'Policy Condition failed: ["eq", "$bucket", "others"]'],
    [[{ bucket: 'others' }], { bucket: 'others' }, 'Policy Condition failed: ["eq", "$bucket", "others"]'],
    [
      [ofBucket, ['content-length-range', 'test', '10']],
      {},
      'Policy Condition failed: ["content-length-range", "test", "10"]',
    ],
    [[ofBucket], { StorageClass: 'x' }, 'Extra input fields: StorageClass'],
    [[ofBucket], { 'x-amz-security-token': 'x' }, 'Extra input fields: x-amz-security-token'],
    [[{ key: 'a' }], { key: 'a' }, 'Extra input fields: bucket'],
  ])('%j refuses %j', (conditions, form, why) => {
    expect(refusal(() => check(conditions, form))).toEqual(['AccessDenied', `Invalid according to Policy: ${why}`]);
  });

  it('refuses an expired policy, from its last moment on', () => {
    expect(until('2026-01-01T00:00:00Z')).toEqual(['AccessDenied', 'Invalid according to Policy: Policy expired.']);
    expect(until('2026-01-01T00:00:00.001Z')).toEqual(['', '']);
  });

  it('returns the sizes for the file, the narrowest of several', () => {
    expect(check([ofBucket, ['content-length-range', 5, 10]])).toEqual({ min: 5, max: 10 });
    expect(check([ofBucket, ['content-length-range', '5', '10']])).toEqual({ min: 5, max: 10 });
    expect(check([ofBucket, ['content-length-range', 0, 10], ['content-length-range', 5, 20]])).toEqual({
      min: 5,
      max: 10,
    });
  });

  it.each([
    ['{', 'Invalid JSON.'],
    ['[]', 'Invalid JSON.'],
    ['null', 'Invalid JSON.'],
    ['{"conditions":[]}', 'Policy missing expiration.'],
    [`{"expiration":"${expiration}"}`, 'Policy missing conditions.'],
    [`{"expiration":"${expiration}","conditions":{}}`, "Invalid 'conditions' value: must be a List."],
    [`{"expiration":"${expiration}","CONDITIONS":[]}`, "Unexpected: 'CONDITIONS'"],
    ['{"expiration":"2026-01-01 01:00:00Z","conditions":[]}', "Invalid 'expiration' value: '2026-01-01 01:00:00Z'"],
    [
      '{"expiration":"2026-01-01T01:00:00+02:00","conditions":[]}',
      "Invalid 'expiration' value: '2026-01-01T01:00:00+02:00'",
    ],
    ['{"expiration":"2026-13-01T01:00:00Z","conditions":[]}', "Invalid 'expiration' value: '2026-13-01T01:00:00Z'"],
  ])('refuses the document %s', (document, why) => {
    const run = () => checkPostPolicy(Buffer.from(document).toString('base64'), fields({}), 'photos', now);
    expect(refusal(run)).toEqual(['InvalidPolicyDocument', `Invalid Policy: ${why}`]);
  });

  it.each([
    [{}, 'Invalid Simple-Condition: Simple-Conditions must have exactly one property specified.'],
    [{ a: 'b', c: 'd' }, 'Invalid Simple-Condition: Simple-Conditions must have exactly one property specified.'],
    [{ a: 1 }, 'Invalid Simple-Condition: value must be a string.'],
    ['eq', 'Invalid condition test: must be a List or Object.'],
    [[], 'Invalid Condition: missing operation identifier.'],
    [['ends-with', '$key', 'a'], "Invalid Condition: unknown operation 'ends-with'."],
    [['eq', '$key'], 'Invalid eq: wrong number of arguments.'],
    [['eq', '$key', 1], 'Invalid JSON.'],
    [['content-length-range', 0], 'Invalid content-length-range: wrong number of arguments.'],
    [
      ['content-length-range', -1, 0],
      'Invalid content-length-range: the bounds are whole numbers of bytes, the smaller first.',
    ],
    [
      ['content-length-range', 2, 1],
      'Invalid content-length-range: the bounds are whole numbers of bytes, the smaller first.',
    ],
    [
      ['content-length-range', 0, 1.5],
      'Invalid content-length-range: the bounds are whole numbers of bytes, the smaller first.',
    ],
  ])('refuses the condition %j', (condition, why) => {
    expect(refusal(() => check([ofBucket, condition]))).toEqual(['InvalidPolicyDocument', `Invalid Policy: ${why}`]);
  });

  it('refuses what is not base64', () => {
    expect(refusal(() => checkPostPolicy('{"not": "base64"}', fields({}), 'photos', now))).toEqual([
      'InvalidPolicyDocument',
      'Invalid Policy: invalid Base64 encoding.',
    ]);
  });

  it('ends any document with sizes or an S3Error, and never allows a field without a condition', () => {
    const condition = oneof(
      anything(),
      array(oneof(constantFrom('eq', 'starts-with', '$key', 'content-length-range', 1, -1), anything()), {
        maxLength: 4,
      }),
    );
    assert(
      property(oneof(array(condition), anything()), string(), (conditions, key) => {
        try {
          check(conditions, { key, 'x-amz-meta-uncovered': key });
          expect(JSON.stringify(conditions)).toContain('x-amz-meta-uncovered');
        } catch (error) {
          expect(error).toBeInstanceOf(S3Error);
        }
      }),
    );
  });
});
