import { describe, expect, it } from 'vitest';
import { applies, policyOf } from '../../test/support/policy/policy-cases.ts';

/** @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_action.html */
describe('Action', () => {
  it.each<[string | string[], string, boolean]>([
    ['s3:GetObject', 's3:GetObject', true],
    ['s3:GetObject', 's3:getobject', true],
    ['S3:GETOBJECT', 's3:GetObject', true],
    ['s3:GetObject', 's3:GetObjectVersion', false],
    ['s3:GetObject', 's3:PutObject', false],
    ['s3:Get*', 's3:GetObject', true],
    ['s3:Get*', 's3:GetBucketLocation', true],
    ['s3:Get*', 's3:PutObject', false],
    ['s3:*Object', 's3:DeleteObject', true],
    ['s3:*Object', 's3:DeleteObjectVersion', false],
    ['s3:*Bucket*', 's3:GetBucketPolicy', true],
    ['s3:?etObject', 's3:GetObject', true],
    ['s3:?etObject', 's3:etObject', false],
    ['s3:Get?bject*', 's3:GetObjectTagging', true],
    ['s3:*', 's3:ListAllMyBuckets', true],
    ['s3:*', 'admin:ServerInfo', false],
    ['*', 's3:GetObject', true],
    ['*', 'admin:ServerInfo', true],
    ['*', 'kms:CreateKey', true],
    ['*', 'sts:AssumeRole', true],
    ['admin:*', 'admin:CreateUser', true],
    ['admin:*', 's3:GetObject', false],
    ['admin:*User', 'admin:CreateUser', true],
    ['admin:*User', 'admin:ListUsers', false],
    ['kms:*', 'kms:KeyStatus', true],
    ['kms:*', 'admin:KMSKeyStatus', false],
    ['sts:*', 'sts:AssumeRoleWithWebIdentity', true],
    [['s3:GetObject', 's3:PutObject'], 's3:PutObject', true],
    [['s3:GetObject', 's3:PutObject'], 's3:DeleteObject', false],
    // Two actions of AWS: the second does not bring the first, as it does in MinIO.
    ['s3:GetObjectVersion', 's3:GetObject', false],
  ])('%j and %s: %s', (Action, action, outcome) => {
    const request = { action, resource: action.startsWith('s3:') ? 'bucket/key' : '' };
    expect(applies({ Effect: 'Allow', Action, Resource: '*' }, request)).toBe(outcome);
    expect(applies({ Effect: 'Deny', Action, Resource: '*' }, request)).toBe(outcome);
  });

  it.each([
    '',
    's3',
    's3:',
    'ec2:*',
    '*:*',
    '**',
    's3.GetObject',
    's3:Get Object',
    's3:Get\u0000',
    'arn:aws:s3:::b',
    '?',
    '__proto__',
  ])('is refused as "%s"', (Action) => {
    expect(() => policyOf({ Effect: 'Allow', Action, Resource: '*' })).toThrow(
      expect.objectContaining({ code: 'MalformedPolicy', message: expect.stringContaining('Action') }),
    );
  });
});

/** @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_notaction.html */
describe('NotAction', () => {
  it.each<[string | string[], string, boolean]>([
    ['s3:DeleteObject', 's3:GetObject', true],
    ['s3:DeleteObject', 's3:DeleteObject', false],
    ['s3:Delete*', 's3:DeleteBucket', false],
    ['s3:Delete*', 's3:deletebucket', false],
    ['s3:*', 's3:GetObject', false],
    ['s3:*', 'admin:ServerInfo', true],
    ['admin:*', 'admin:ServerInfo', false],
    ['admin:*', 'kms:CreateKey', true],
    [['s3:Get*', 's3:List*'], 's3:PutObject', true],
    [['s3:Get*', 's3:List*'], 's3:ListBucket', false],
    ['*', 's3:GetObject', false],
  ])('%j and %s: %s', (NotAction, action, outcome) => {
    const request = { action, resource: action.startsWith('s3:') ? 'bucket/key' : '' };
    expect(applies({ Effect: 'Allow', NotAction, Resource: '*' }, request)).toBe(outcome);
    expect(applies({ Effect: 'Deny', NotAction, Resource: '*' }, request)).toBe(outcome);
  });

  it('gives nothing outside its Resource', () => {
    const statement = { Effect: 'Allow', NotAction: 's3:DeleteObject', Resource: 'arn:aws:s3:::bucket/*' } as const;
    expect(applies(statement, { action: 'admin:ServerInfo', resource: '' })).toBe(false);
    expect(applies(statement, { action: 'kms:CreateKey', resource: 'key' })).toBe(false);
    expect(applies(statement, { action: 's3:PutObject', resource: 'bucket/x' })).toBe(true);
  });

  it('excludes Action, and one of them must stand', () => {
    expect(() => policyOf({ Effect: 'Allow', Action: '*', NotAction: 's3:*', Resource: '*' })).toThrow(
      /excludes Action/,
    );
    expect(() => policyOf({ Effect: 'Allow', Resource: '*' })).toThrow(/needs an Action or NotAction/);
  });

  it('needs a Resource', () => {
    expect(() => policyOf({ Effect: 'Allow', NotAction: 's3:*' })).toThrow(/Resource/);
  });
});
