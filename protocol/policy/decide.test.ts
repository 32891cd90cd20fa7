import { describe, expect, it } from 'vitest';
import { decide, type DecisionInput } from './decide.ts';
import type { NamedPolicy } from './evaluate.ts';
import { parseBucketPolicy, parsePolicyDocument } from './parse-policy.ts';
import { requestOf } from '../../test/support/policy/policy-cases.ts';

const policy = (name: string, Effect: string, Action: string): NamedPolicy => ({
  name,
  document: parsePolicyDocument({ Statement: [{ Sid: `${Effect}${name}`, Effect, Action, Resource: '*' }] }),
});
const bucketPolicy = (Effect: string, Action: string): NamedPolicy => ({
  name: 'bucket bucket',
  document: parseBucketPolicy(
    { Statement: [{ Sid: `${Effect}Bucket`, Effect, Principal: '*', Action, Resource: 'arn:aws:s3:::bucket/*' }] },
    'bucket',
  ),
});
const get = 's3:GetObject';
const other = 's3:PutObject';
const yes = (name: string) => policy(name, 'Allow', get);
const no = (name: string) => policy(name, 'Deny', get);
const silent = (name: string) => policy(name, 'Allow', other);
const request = requestOf({ principals: ['ann'] });

/** @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html */
describe('a decision', () => {
  it.each<[string, Omit<DecisionInput, 'request'>, string, string]>([
    ['no policy at all', { identity: [] }, 'deny', 'not-allowed'],
    ['a policy that allows', { identity: [yes('a')] }, 'allow', 'allowed'],
    ['a policy that is silent', { identity: [silent('a')] }, 'deny', 'not-allowed'],
    ['one of several that allows', { identity: [silent('a'), yes('b')] }, 'allow', 'allowed'],
    ['one of several that denies', { identity: [yes('a'), no('b')] }, 'deny', 'denied'],
    ['a Deny before an Allow', { identity: [no('a'), yes('b')] }, 'deny', 'denied'],
    ['a bucket that allows', { identity: [], bucket: bucketPolicy('Allow', get) }, 'allow', 'allowed'],
    ['a bucket that is silent', { identity: [yes('a')], bucket: bucketPolicy('Allow', other) }, 'allow', 'allowed'],
    ['a bucket that denies', { identity: [yes('a')], bucket: bucketPolicy('Deny', get) }, 'deny', 'denied'],
    [
      'a Deny of the person beside an Allow of the bucket',
      { identity: [no('a')], bucket: bucketPolicy('Allow', get) },
      'deny',
      'denied',
    ],
    ['a boundary that allows', { identity: [yes('a')], boundaries: [yes('s')] }, 'allow', 'allowed'],
    ['a boundary that is silent', { identity: [yes('a')], boundaries: [silent('s')] }, 'deny', 'outside-boundary'],
    ['a boundary that denies', { identity: [yes('a')], boundaries: [no('s')] }, 'deny', 'denied'],
    ['a boundary that grants nothing', { identity: [silent('a')], boundaries: [yes('s')] }, 'deny', 'not-allowed'],
    [
      'a boundary that narrows the bucket',
      { identity: [], bucket: bucketPolicy('Allow', get), boundaries: [silent('s')] },
      'deny',
      'outside-boundary',
    ],
    [
      'a boundary within what the bucket allows',
      { identity: [], bucket: bucketPolicy('Allow', get), boundaries: [yes('s')] },
      'allow',
      'allowed',
    ],
    ['two boundaries that allow', { identity: [yes('a')], boundaries: [yes('s'), yes('t')] }, 'allow', 'allowed'],
    [
      'two boundaries of which one is silent',
      { identity: [yes('a')], boundaries: [yes('s'), silent('t')] },
      'deny',
      'outside-boundary',
    ],
    [
      'a Deny of the second boundary',
      { identity: [silent('a')], boundaries: [silent('s'), no('t')] },
      'deny',
      'denied',
    ],
    ['no boundaries, as a list', { identity: [yes('a')], boundaries: [] }, 'allow', 'allowed'],
    ['what everyone may do', { identity: [], allowedByDefault: true }, 'allow', 'allowed-unless-denied'],
    [
      'what everyone may do, and a statement allows',
      { identity: [yes('a')], allowedByDefault: true },
      'allow',
      'allowed',
    ],
    ['what everyone may do, and a statement denies', { identity: [no('a')], allowedByDefault: true }, 'deny', 'denied'],
    [
      'what everyone may do, outside a boundary',
      { identity: [], boundaries: [silent('s')], allowedByDefault: true },
      'deny',
      'outside-boundary',
    ],
    [
      'what everyone may do, within a boundary',
      { identity: [], boundaries: [yes('s')], allowedByDefault: true },
      'allow',
      'allowed-unless-denied',
    ],
  ])('by %s', (_, input, effect, cause) => {
    expect(decide({ ...input, request })).toMatchObject({ effect, cause });
  });

  it('names the statement that denies, and its place', () => {
    const input = { identity: [yes('a'), no('b')], bucket: bucketPolicy('Allow', get), request };
    expect(decide(input)).toEqual({
      effect: 'deny',
      cause: 'denied',
      reason: 'statement Denyb of policy "b" denies s3:GetObject on "bucket/key"',
      statements: [{ source: 'identity', policy: 'b', statement: 'Denyb' }],
    });
  });

  it('names the statement that allows and one of each boundary', () => {
    const input = { identity: [], bucket: bucketPolicy('Allow', get), boundaries: [yes('s'), yes('t')], request };
    expect(decide(input).statements).toEqual([
      { source: 'bucket', policy: 'bucket bucket', statement: 'AllowBucket' },
      { source: 'boundary', policy: 's', statement: 'Allows' },
      { source: 'boundary', policy: 't', statement: 'Allowt' },
    ]);
  });

  it('says which policies were silent', () => {
    expect(decide({ identity: [silent('a'), silent('b')], bucket: bucketPolicy('Allow', other), request }).reason).toBe(
      'no statement of "a", "b", "bucket bucket" allows s3:GetObject on "bucket/key"',
    );
  });

  it('says which boundary narrows what', () => {
    expect(decide({ identity: [yes('a')], boundaries: [silent('session policy')], request }).reason).toBe(
      'statement Allowa of policy "a" allows s3:GetObject on "bucket/key", but no statement of "session policy" does, which narrows the credentials',
    );
  });

  it('names statements without a Sid by their place', () => {
    const document = parsePolicyDocument({
      Statement: [
        { Effect: 'Allow', Action: other, Resource: '*' },
        { Effect: 'Allow', Action: get, Resource: '*' },
      ],
    });
    expect(decide({ identity: [{ name: 'a', document }], request }).statements).toEqual([
      { source: 'identity', policy: 'a', statement: '#2' },
    ]);
  });
});
