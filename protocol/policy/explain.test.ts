import { describe, expect, it } from 'vitest';
import type { DecisionInput } from './decide.ts';
import { explain } from './explain.ts';
import { type Mismatch, renderExplanation } from './explanation.ts';
import { parseBucketPolicy } from './parse-policy.ts';
import { policyOf, requestOf, type WrittenStatement } from '../../test/support/policy/policy-cases.ts';

function mismatch(
  statement: Partial<WrittenStatement>,
  request: Partial<DecisionInput['request']> = {},
): Mismatch | undefined {
  const written: WrittenStatement = { Effect: 'Allow', ...statement };
  const { policies } = explain({ identity: [policyOf(written)], request: requestOf(request) });
  return policies[0]?.statements[0]?.mismatch;
}

describe('an explanation', () => {
  it.each<[string, Partial<WrittenStatement>, Mismatch]>([
    [
      'the action',
      { Action: ['s3:PutObject', 's3:List*'], Resource: 'other/*' },
      { element: 'Action', expected: ['s3:PutObject', 's3:List*'], actual: 's3:GetObject' },
    ],
    [
      'an action that is excluded',
      { NotAction: 's3:Get*', Resource: '*' },
      { element: 'NotAction', expected: ['s3:Get*'], actual: 's3:GetObject' },
    ],
    [
      'the resource',
      { Action: 's3:*', Resource: 'arn:aws:s3:::other/*' },
      { element: 'Resource', expected: ['arn:aws:s3:::other/*'], actual: 'bucket/key' },
    ],
    [
      'a resource that is excluded',
      { Action: 's3:*', NotResource: 'arn:aws:s3:::bucket/*' },
      { element: 'NotResource', expected: ['arn:aws:s3:::bucket/*'], actual: 'bucket/key' },
    ],
    [
      'variables for which nothing is known',
      { Action: 's3:*', Resource: ['a/${jwt:team}/*', 'b/${jwt:team}/*'] },
      {
        element: 'Resource',
        expected: ['a/${jwt:team}/*', 'b/${jwt:team}/*'],
        actual: 'bucket/key',
        unresolved: ['jwt:team'],
      },
    ],
    [
      'the condition: operator, key, expected and actual',
      { Action: 's3:*', Resource: '*', Condition: { stringlike: { 's3:prefix': 'home/*' } } },
      { element: 'Condition', operator: 'StringLike', key: 's3:prefix', expected: ['home/*'], actual: ['etc/'] },
    ],
    [
      'a key that the request lacks',
      { Action: 's3:*', Resource: '*', Condition: { Bool: { 'aws:SecureTransport': 'true' } } },
      { element: 'Condition', operator: 'Bool', key: 'aws:SecureTransport', expected: ['true'] },
    ],
    [
      'the first condition that does not hold',
      {
        Action: 's3:*',
        Resource: '*',
        Condition: {
          StringEquals: { 's3:prefix': 'etc/' },
          NumericLessThan: { 's3:max-keys': '10' },
          Null: { 's3:a': 'false' },
        },
      },
      { element: 'Condition', operator: 'NumericLessThan', key: 's3:max-keys', expected: ['10'], actual: ['1000'] },
    ],
    [
      'values that cannot be read',
      { Action: 's3:*', Resource: '*', Condition: { NumericEquals: { 's3:prefix': '10' } } },
      {
        element: 'Condition',
        operator: 'NumericEquals',
        key: 's3:prefix',
        expected: ['10'],
        actual: ['etc/'],
        unreadable: ['etc/'],
      },
    ],
    [
      'variables of a condition',
      { Action: 's3:*', Resource: '*', Condition: { StringNotEquals: { 's3:prefix': '${jwt:team}' } } },
      {
        element: 'Condition',
        operator: 'StringNotEquals',
        key: 's3:prefix',
        expected: ['${jwt:team}'],
        actual: ['etc/'],
        unresolved: ['jwt:team'],
      },
    ],
  ])('names %s', (_, statement, expected) => {
    expect(mismatch(statement, { context: { 's3:prefix': ['etc/'], 's3:max-keys': ['1000'] } })).toEqual(expected);
  });

  it('shows no key and no token that a condition compares', () => {
    const key = 's3:x-amz-server-side-encryption-customer-key';
    const Condition = { StringEquals: { [key]: 'x' } };
    const found = mismatch({ Action: 's3:*', Resource: '*', Condition }, { context: { [key]: ['c2VjcmV0'] } });
    expect(found).toMatchObject({ element: 'Condition', actual: ['(not shown)'] });
  });

  const bucket = {
    name: 'bucket bucket',
    document: parseBucketPolicy(
      {
        Statement: [{ Effect: 'Allow', Principal: { AWS: 'bob' }, Action: 's3:*', Resource: 'arn:aws:s3:::bucket/*' }],
      },
      'bucket',
    ),
  };
  const identity = [
    policyOf(
      { Effect: 'Allow', Action: 's3:GetObject', Resource: 'arn:aws:s3:::bucket/*' },
      {
        Sid: 'Office',
        Effect: 'Deny',
        Action: 's3:*',
        Resource: '*',
        Condition: { NotIpAddress: { 'aws:SourceIp': '10.0.0.0/8' } },
      },
    ),
  ];
  const boundaries = [{ ...policyOf({ Effect: 'Allow', Action: 's3:List*', Resource: '*' }), name: 'session policy' }];
  const input = {
    identity,
    bucket,
    boundaries,
    request: requestOf({ principals: ['ann'], context: { 'aws:SourceIp': ['10.1.1.1'] } }),
  };

  it('has each statement of each policy, and what the policy says', () => {
    expect(explain(input)).toMatchObject({
      effect: 'deny',
      cause: 'outside-boundary',
      action: 's3:GetObject',
      resource: 'bucket/key',
      policies: [
        {
          source: 'identity',
          policy: 'p',
          effect: 'allow',
          statements: [
            { statement: '#1', effect: 'Allow', applied: true },
            { statement: 'Office', effect: 'Deny', applied: false, mismatch: { element: 'Condition' } },
          ],
        },
        {
          source: 'bucket',
          policy: 'bucket bucket',
          effect: 'none',
          statements: [
            { statement: '#1', applied: false, mismatch: { element: 'Principal', expected: ['bob'], actual: ['ann'] } },
          ],
        },
        { source: 'boundary', policy: 'session policy', effect: 'none' },
      ],
    });
  });

  it('is plain data', () => {
    const explanation = explain(input);
    expect(JSON.parse(JSON.stringify(explanation))).toEqual(explanation);
  });

  it('reads as text', () => {
    expect(renderExplanation(explain(input))).toBe(`DENIED  s3:GetObject on "bucket/key"
Because statement #1 of policy "p" allows s3:GetObject on "bucket/key", but no statement of "session policy" does, which narrows the credentials.

Policy "p" allows
  + #1 Allow: applies
  - Office Deny: Condition NotIpAddress aws:SourceIp wants "10.0.0.0/8"; the request has "10.1.1.1"

Bucket policy "bucket bucket" says nothing
  - #1 Allow: Principal is "bob", not "ann"

Boundary "session policy" says nothing
  - #1 Allow: Action is "s3:List*", not s3:GetObject
`);
  });

  it('reads short where lists are long', () => {
    const Action = Array.from({ length: 100 }, (_, index) => `s3:X${index}`);
    const text = renderExplanation(
      explain({ identity: [policyOf({ Effect: 'Allow', Action, Resource: '*' })], request: requestOf() }),
    );
    expect(text).toContain('"s3:X9" and 90 more, not s3:GetObject');
  });
});
