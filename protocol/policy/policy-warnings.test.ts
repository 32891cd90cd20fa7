import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applies } from '../../test/support/policy/policy-cases.ts';
import { parseNewPolicy } from './parse-policy.ts';
import { policyWarnings } from './policy-warnings.ts';

const statement = (changes: object) => ({
  Effect: 'Allow',
  Action: 's3:GetObject',
  Resource: 'arn:aws:s3:::b/*',
  ...changes,
});
const warnings = (changes: object) =>
  policyWarnings(parseNewPolicy({ Version: '2012-10-17', Statement: [statement(changes)] }));

describe('a warning of NotAction', () => {
  const all = { Action: undefined, NotAction: 's3:DeleteObject', Resource: 'arn:aws:s3:::*' };

  it('says that an Allow with NotAction gives the administration', () => {
    expect(warnings(all)).toEqual([expect.stringMatching(/#1.*admin:\* and kms:\*/)]);
    expect(warnings({ ...all, Resource: '*', NotAction: ['s3:DeleteObject', 'admin:*'] })).toEqual([
      expect.stringMatching(/also kms:\*/),
    ]);
    expect(
      applies(
        { Effect: 'Allow', NotAction: 's3:DeleteObject', Resource: 'arn:aws:s3:::*' },
        { action: 'admin:CreateUser', resource: '' },
      ),
    ).toBe(true);
  });

  it.each([
    [{}],
    [{ ...all, Effect: 'Deny' }],
    [{ ...all, Resource: 'arn:aws:s3:::b/*' }],
    [{ ...all, NotAction: ['s3:DeleteObject', 'admin:*', 'kms:*'] }],
  ])('is not given for %j', (changes) => {
    expect(warnings(changes)).toEqual([]);
  });
});

describe('a warning of conditions', () => {
  it.each([
    [
      { Action: ['s3:GetObject', 's3:ListBucket'], Resource: '*', Condition: { StringLike: { 's3:prefix': 'a*' } } },
      /^Statement #1 allows s3:GetObject only to requests with s3:prefix \(StringLike\), which clients send with other actions\. Put s3:GetObject into/,
    ],
    [
      { Sid: 'Locks', Action: 's3:Get*', Condition: { Null: { 's3:object-lock-mode': 'false' } } },
      /^Statement Locks allows s3:Get\* only to requests with s3:object-lock-mode \(Null\)/,
    ],
    [
      { Condition: { StringEquals: { 'aws:PrincipalOrgID': 'o-1' } } },
      /^Statement #1 never allows anything: no request to this server has aws:PrincipalOrgID \(StringEquals\)\.$/,
    ],
    [
      {
        Condition: {
          StringEquals: { 'aws:username': ['ann', 'bob'] },
          StringNotLike: { 'aws:username': ['a*', 'b?b'] },
        },
      },
      /^Statement #1 never allows anything: StringEquals and StringNotLike of aws:username never hold together\.$/,
    ],
    [
      { Condition: { Null: { 'jwt:team': 'true' }, StringLike: { 'jwt:team': '*' } } },
      /Null and StringLike of jwt:team/,
    ],
    [
      {
        Action: 's3:ListBucket',
        Resource: '*',
        Condition: {
          NumericGreaterThan: { 's3:max-keys': '10' },
          NumericLessThanEquals: { 's3:max-keys': ['5', '10'] },
        },
      },
      /NumericGreaterThan and NumericLessThanEquals of s3:max-keys/,
    ],
    [
      {
        Effect: 'Deny',
        Condition: { StringEquals: { 'aws:username': 'ann' }, StringNotEquals: { 'aws:username': 'ann' } },
      },
      /^Statement #1 never denies anything: StringEquals and StringNotEquals of aws:username/,
    ],
    [
      {
        Condition: {
          DateGreaterThan: { 'aws:CurrentTime': '2027-01-01T00:00:00Z' },
          DateLessThan: { 'aws:CurrentTime': '2026-01-01' },
        },
      },
      /^Statement #1 never allows anything: DateGreaterThan and DateLessThan of aws:CurrentTime/,
    ],
  ])('names what can never hold in %j', (changes, message) => {
    expect(warnings(changes)).toEqual([expect.stringMatching(message)]);
  });

  it.each([
    [{ Action: 's3:*', Condition: { StringLike: { 's3:prefix': 'a*' } } }],
    // The source of a copy is read with the headers of the copy.
    [{ Effect: 'Deny', Condition: { StringLike: { 's3:x-amz-copy-source': '*secret/*' } } }],
    // A value that cannot be read makes a Deny apply, and so does a claim that is not known.
    [
      {
        Effect: 'Deny',
        Action: 's3:ListBucket',
        Resource: '*',
        Condition: { NumericGreaterThan: { 's3:max-keys': '10' }, NumericLessThan: { 's3:max-keys': '5' } },
      },
    ],
    [
      {
        Effect: 'Deny',
        Condition: { StringEquals: { 'jwt:team': 'a' }, StringNotEquals: { 'jwt:team': 'a' } },
      },
    ],
    [{ Condition: { StringNotLike: { 's3:prefix': 'a*' } } }],
    [{ Condition: { StringLikeIfExists: { 's3:prefix': 'a*' } } }],
    [{ Condition: { 'ForAllValues:StringLike': { 's3:prefix': 'a*' } } }],
    [{ Condition: { Null: { 's3:prefix': 'true' } } }],
    [{ Condition: { StringEquals: { 'aws:username': ['ann', 'bob'] }, StringNotEquals: { 'aws:username': 'ann' } } }],
    [{ Condition: { StringEquals: { 'jwt:team': '${jwt:org}' }, StringNotEquals: { 'jwt:team': '${jwt:org}' } } }],
    [{ Condition: { NumericGreaterThan: { 'jwt:level': '10' }, NumericLessThan: { 'jwt:level': '5' } } }],
  ])('is not given for %j', (changes) => {
    expect(warnings(changes)).toEqual([]);
  });

  it('says nothing of the administration for the policy of an access key', () => {
    const document = parseNewPolicy({
      Version: '2012-10-17',
      Statement: [statement({ Action: undefined, NotAction: 's3:DeleteObject', Resource: '*' })],
    });
    expect(policyWarnings(document, 'boundary')).toEqual([]);
  });

  it('is given for no statement that some request matches', () => {
    const key = 's3:x-amz-acl';
    const value = fc.constantFrom('a', 'b', 'A', 'a*', '*', '1', '5', '10');
    const operator = fc.constantFrom(
      'StringEquals',
      'StringNotEquals',
      'StringLike',
      'StringNotLike',
      'StringEqualsIgnoreCase',
      'StringNotEqualsIgnoreCase',
      'StringEqualsIfExists',
      'ForAnyValue:StringEquals',
      'ForAllValues:StringNotEquals',
    );
    const numeric = fc.constantFrom(
      'NumericEquals',
      'NumericLessThan',
      'NumericGreaterThan',
      'NumericLessThanEquals',
      'NumericGreaterThanEquals',
      'NumericNotEquals',
    );
    const condition = fc.oneof(
      fc.tuple(operator, fc.array(value, { minLength: 1, maxLength: 2 })),
      fc.tuple(numeric, fc.array(fc.constantFrom('1', '5', '10'), { minLength: 1, maxLength: 2 })),
      fc.tuple(
        fc.constant('Null'),
        fc.constantFrom('true', 'false').map((one) => [one]),
      ),
    );
    fc.assert(
      fc.property(
        fc.constantFrom('Allow', 'Deny'),
        fc.array(condition, { minLength: 1, maxLength: 3 }),
        fc.option(fc.constantFrom('a', 'b', 'A', 'ab', '0', '1', '3', '5', '7', '10', '11'), { nil: undefined }),
        (Effect, conditions, actual) => {
          const Condition = Object.fromEntries(conditions.map(([name, values]) => [name, { [key]: values }]));
          const written = statement({ Effect, Action: 's3:PutObject', Resource: '*', Condition });
          if (warnings(written).length === 0) return;
          const context: Record<string, string[]> = actual === undefined ? {} : { [key]: [actual] };
          expect(applies({ ...written, Effect }, { action: 's3:PutObject', context })).toBe(false);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
