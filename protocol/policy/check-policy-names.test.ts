import { describe, expect, it } from 'vitest';
import { deniesAlways } from './check-policy-names.ts';
import { parseNewBucketPolicy, parseNewPolicy, parsePolicyDocument } from './parse-policy.ts';
import { applies } from '../../test/support/policy/policy-cases.ts';

const statement = (changes: object) => ({
  Effect: 'Allow',
  Action: 's3:GetObject',
  Resource: 'arn:aws:s3:::b/*',
  ...changes,
});
const documentOf = (changes: object) => ({ Version: '2012-10-17', Statement: [statement(changes)] });
const refusal = (message: RegExp) =>
  expect.objectContaining({ code: 'MalformedPolicy', message: expect.stringMatching(message) as string }) as Error;

const by = (operator: string, values: string) => ({
  Action: 's3:*',
  Resource: '*',
  Condition: { [operator]: { 'aws:PrincipalTag/class': values } },
});

describe('a new policy', () => {
  it.each([
    [
      { Action: 's3:GetObjekt' },
      /Statement\[0\]\.Action "s3:GetObjekt" is no action that exists; the nearest is "s3:GetObject"/,
    ],
    [{ Action: ['s3:PutObject', 's3:ListBuckets'] }, /nearest is "s3:ListBucket"/],
    [{ Action: 's3:Fly' }, /nearest is "s3:/],
    [{ Action: undefined, NotAction: 's3:DeletObject' }, /NotAction "s3:DeletObject".*nearest is "s3:DeleteObject"/],
    [{ Action: 'admin:CreateUsers' }, /nearest is "admin:CreateUser"/],
    [{ Action: 'kms:Encryptt*' }, /is no action/],
    [{ Action: 'sts:AssumeRol' }, /nearest is "sts:AssumeRole"/],
    [
      { Condition: { StringEquals: { 's3:prefx': 'a' } } },
      /Condition\.StringEquals "s3:prefx" is no condition key.*"s3:prefix"/,
    ],
    [{ Effect: 'Deny', Condition: { IpAddress: { 'aws:SourceIP2': '10.0.0.1' } } }, /nearest is "aws:SourceIp"/],
  ])('is refused with %j, and the nearest name', (changes, message) => {
    expect(() => parseNewPolicy(documentOf(changes))).toThrow(refusal(message));
    expect(() => parsePolicyDocument(documentOf(changes))).not.toThrow();
  });

  it.each([
    [{ Action: ['s3:*', 's3:Get*', '*', 's3:PUTOBJECT', 's3:?etObject'] }],
    [{ Action: ['admin:Heal', 'kms:ListKeys', 'sts:AssumeRole'] }],
    [{ Condition: { StringLike: { 'S3:Prefix': 'a*', 'jwt:groups': 'x', 's3:x-amz-acl': 'private' } } }],
    [{ Condition: { StringEquals: { 's3:ExistingObjectTag/class': 'public' } } }],
  ])('is taken with %j', (changes) => {
    expect(() => parseNewPolicy(documentOf(changes))).not.toThrow();
  });

  it.each([
    's3:ExistingObjectTag/class',
    's3:RequestObjectTag/x',
    's3:RequestObjectTagKeys',
    's3:object-lock-mode',
    's3:object-lock-retain-until-date',
    's3:object-lock-legal-hold',
    's3:object-lock-remaining-retention-days',
  ])('is taken with a Deny by %s', (key) => {
    const changes = { Effect: 'Deny', Condition: { Null: { [key]: 'true' } } };
    expect(() => parseNewPolicy(documentOf(changes))).not.toThrow();
    expect(deniesAlways(parsePolicyDocument(documentOf(changes)))).toEqual([]);
  });

  it.each(['s3:ExistingObjectTag', 's3:ExistingObjectTag/', 's3:RequestObjectTag/'])(
    'is refused by %s, which names no tag',
    (key) => {
      const changes = { Condition: { StringEquals: { [key]: 'secret' } } };
      expect(() => parseNewPolicy(documentOf(changes))).toThrow(refusal(/is no condition key/));
    },
  );

  it.each(['aws:PrincipalTag/class', 's3:DataAccessPointArn', 'aws:PrincipalOrgID', 'aws:ResourceTag/class'])(
    'is refused with a Deny by %s, which no request has',
    (key) => {
      const changes = { Effect: 'Deny', Condition: { StringEquals: { [key]: 'secret' } } };
      expect(() => parseNewPolicy(documentOf(changes))).toThrow(
        refusal(/cannot be evaluated here.*Deny would be lost/),
      );
    },
  );

  it('of a bucket is held to the same', () => {
    const Principal = '*';
    const tagged = { StringEquals: { 'aws:PrincipalTag/class': 'secret' } };
    expect(() => parseNewBucketPolicy(documentOf({ Principal, Action: 's3:GetObjects' }), 'b')).toThrow(
      refusal(/nearest/),
    );
    expect(() => parseNewBucketPolicy(documentOf({ Principal, Effect: 'Deny', Condition: tagged }), 'b')).toThrow(
      refusal(/cannot be evaluated/),
    );
  });

  it('of the longest names is refused in little time', () => {
    const action = `s3:${'a'.repeat(18_000)}`;
    expect(() => parseNewPolicy(documentOf({ Action: action }))).toThrow(refusal(/is no action/));
  });
});

describe('a stored statement by a key that no request has', () => {
  it.each(['StringEquals', 'StringNotEquals', 'StringEqualsIfExists', 'ForAnyValue:StringLike'])(
    'denies, and never allows, by %s',
    (operator) => {
      expect(applies({ Effect: 'Deny', ...by(operator, 'secret') })).toBe(true);
      expect(applies({ Effect: 'Allow', ...by(operator, 'secret') })).toBe(false);
    },
  );

  it.each(['true', 'false'])('denies, and never allows, by Null %s', (value) => {
    expect(applies({ Effect: 'Deny', ...by('Null', value) })).toBe(true);
    expect(applies({ Effect: 'Allow', ...by('Null', value) })).toBe(false);
  });

  it('does not deny where another condition of it does not hold', () => {
    const Condition = { StringEquals: { 'aws:PrincipalTag/class': 'secret', 's3:prefix': 'a' } };
    expect(applies({ Effect: 'Deny', Action: 's3:*', Resource: '*', Condition })).toBe(false);
  });

  it('is found for the log', () => {
    const stored = parsePolicyDocument(
      documentOf({ Sid: 'Tagged', Effect: 'Deny', Condition: { StringEquals: { 'aws:PrincipalTag/class': 'x' } } }),
    );
    expect(deniesAlways(stored)).toEqual([{ statement: 'Tagged', keys: ['aws:PrincipalTag/class'] }]);
    expect(deniesAlways(parsePolicyDocument(documentOf({})))).toEqual([]);
  });
});
