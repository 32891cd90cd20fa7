import { describe, expect, it } from 'vitest';
import { checkApplicability } from './check-applicability.ts';
import { parseBucketPolicy } from './parse-policy.ts';

const bucket = 'arn:aws:s3:::b';
const objects = `${bucket}/*`;
const tag = 's3:ExistingObjectTag/team';

function check(changes: object): void {
  const statement = {
    Effect: 'Allow',
    Principal: '*',
    Action: 's3:GetObject',
    Resource: [bucket, objects],
    ...changes,
  };
  checkApplicability(parseBucketPolicy({ Version: '2012-10-17', Statement: [statement] }, 'b'));
}

const by = (Action: string | readonly string[], key: string) => ({
  Action,
  Condition: { StringEquals: { [key]: 'a' } },
});

describe('a new policy of a bucket', () => {
  it.each([
    by('s3:ListBucket', 's3:prefix'),
    by(['s3:ListBucket', 's3:ListBucketVersions'], 's3:Delimiter'),
    by('s3:*', 's3:prefix'),
    by('s3:List*', 's3:max-keys'),
    by('*', 's3:x-amz-acl'),
    by('s3:PutObject', 's3:x-amz-acl'),
    by('s3:PutObjectAcl', 's3:x-amz-grant-read'),
    by('s3:PutObject', 's3:x-amz-server-side-encryption'),
    by('s3:PutObject', 's3:RequestObjectTag/team'),
    by(['s3:PutObject', 's3:PutObjectTagging'], 's3:RequestObjectTagKeys'),
    by(['s3:GetObject', 's3:DeleteObject', 's3:PutObject'], tag),
    by('s3:PutObjectRetention', 's3:object-lock-mode'),
    by('s3:GetObject', 'aws:Referer'),
    by('s3:GetObject', 'aws:PrincipalOrgID'),
    by('s3:GetObject', 's3:authType'),
    by('s3:GetObject', 's3:x-amz-content-sha256'),
    by('s3:GetObject', 'jwt:sub'),
    { Action: undefined, NotAction: 's3:ListBucket', Condition: { StringEquals: { 's3:prefix': 'a' } } },
    {
      Effect: 'Deny',
      Action: 's3:PutObject',
      Condition: { 'ForAllValues:StringEquals': { 's3:RequestObjectTagKeys': 'a' } },
    },
    { Effect: 'Deny', Action: 's3:PutObject', Condition: { Null: { 's3:x-amz-server-side-encryption': 'true' } } },
  ])('has condition keys that fit: %o', (changes) => {
    expect(() => check(changes)).not.toThrow();
  });

  it.each([
    [by('s3:GetObject', 's3:prefix'), 's3:GetObject', 's3:prefix'],
    [by(['s3:ListBucket', 's3:GetBucketLocation'], 's3:prefix'), 's3:GetBucketLocation', 's3:prefix'],
    [by('s3:Get*', 's3:delimiter'), 's3:Get*', 's3:delimiter'],
    [by(['s3:PutObject', 's3:GetObject'], 's3:x-amz-acl'), 's3:GetObject', 's3:x-amz-acl'],
    [by('s3:GetObject', 's3:X-Amz-Grant-Read'), 's3:GetObject', 's3:X-Amz-Grant-Read'],
    [by('s3:GetObject', 's3:x-amz-copy-source'), 's3:GetObject', 's3:x-amz-copy-source'],
    [by('s3:ListBucket', tag), 's3:ListBucket', tag],
    [by('s3:PutObjectAcl', 's3:RequestObjectTag/team'), 's3:PutObjectAcl', 's3:RequestObjectTag/team'],
    [by('s3:GetObjectRetention', 's3:object-lock-mode'), 's3:GetObjectRetention', 's3:object-lock-mode'],
    [by('s3:GetObject', 's3:LocationConstraint'), 's3:GetObject', 's3:LocationConstraint'],
  ])('is refused with a key that requests of an action never have: %o', (changes, action, key) => {
    const text = 'Conditions do not apply to combination of actions and resources in statement';
    const message = `${text}: no request of "${action}" has Statement[0].Condition.StringEquals "${key}"`;
    expect(() => check(changes)).toThrow(expect.objectContaining({ code: 'MalformedPolicy', message }));
  });

  it.each([
    ['s3:GetObject', bucket],
    ['s3:ListBucket', objects],
    ['s3:PutBucketPolicy', `${bucket}/a`],
    ['s3:GetObject*', bucket],
  ])('is refused with %s on %s alone', (Action, Resource) => {
    const message = `Action does not apply to any resource(s) in statement: Statement[0].Action "${Action}"`;
    expect(() => check({ Action, Resource })).toThrow(expect.objectContaining({ code: 'MalformedPolicy', message }));
  });

  it.each([
    ['s3:GetObject', `${bucket}/a/\${aws:username}/*`],
    ['s3:ListBucket', bucket],
    ['s3:*', bucket],
    ['*', objects],
    ['s3:Get*', bucket],
    ['s3:GetObject', 'arn:aws:s3:::*'],
    ['s3:ListBucket', 'arn:aws:s3:::*'],
  ])('may have %s on %s', (Action, Resource) => {
    expect(() => check({ Action, Resource })).not.toThrow();
  });
});
