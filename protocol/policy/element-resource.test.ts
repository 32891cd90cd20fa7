import { describe, expect, it } from 'vitest';
import { applies, policyOf } from '../../test/support/policy/policy-cases.ts';

/** @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_resource.html */
describe('Resource of S3', () => {
  it.each<[string | string[], string, boolean]>([
    ['arn:aws:s3:::photos/*', 'photos/a.jpg', true],
    ['arn:aws:s3:::photos/*', 'photos/2026/11/a.jpg', true],
    ['arn:aws:s3:::photos/*', 'photos2/a.jpg', false],
    ['arn:aws:s3:::photos/*', 'arn:aws:s3:::photos/a.jpg', true],
    ['arn:aws:s3:::photos/a.jpg', 'photos/a.jpg', true],
    ['arn:aws:s3:::photos/a.jpg', 'photos/A.jpg', false],
    ['arn:aws:s3:::photos/a.jpg', 'photos/a.jpg/b', false],
    ['arn:aws:s3:::Photos/*', 'photos/a.jpg', false],
    ['arn:aws:s3:::photos', 'photos', true],
    ['arn:aws:s3:::photos', 'photos/a.jpg', false],
    ['arn:aws:s3:::photos*', 'photos', true],
    ['arn:aws:s3:::photos*', 'photos-old/a.jpg', true],
    ['arn:aws:s3:::photos?', 'photos2', true],
    ['arn:aws:s3:::photos?', 'photos', true],
    ['arn:aws:s3:::photos?', 'photos22', false],
    ['arn:aws:s3:::*/a.jpg', 'photos/a.jpg', true],
    ['arn:aws:s3:::*/a.jpg', 'photos/2026/a.jpg', true],
    ['arn:aws:s3:::*/private/*', 'photos/private/x', true],
    ['arn:aws:s3:::*/private/*', 'photos/public/x', false],
    ['arn:aws:s3:::photos/*.jpg', 'photos/a.png', false],
    ['arn:aws:s3:::photos/????.jpg', 'photos/2026.jpg', true],
    ['arn:aws:s3:::photos/????.jpg', 'photos/206.jpg', false],
    ['arn:aws:s3:::*', 'photos/a.jpg', true],
    ['*', 'photos/a.jpg', true],
    ['*', 'photos', true],
    ['*', '', true],
    ['arn:aws:s3:::*', '', true],
    ['arn:aws:s3:::photos/*', '', false],
    [['arn:aws:s3:::a/*', 'arn:aws:s3:::b/*'], 'b/x', true],
    [['arn:aws:s3:::a/*', 'arn:aws:s3:::b/*'], 'c/x', false],
    // A bucket by its contents, as MinIO has it.
    ['arn:aws:s3:::photos/*', 'photos', true],
    ['arn:aws:s3:::photos/private/*', 'photos', false],
    // Keys of the key service are something else.
    ['arn:minio:kms:::photos', 'photos', false],
    ['arn:minio:kms:::*', 'photos', false],
    // Dots are dots, and nothing is walked up.
    ['arn:aws:s3:::photos/*', 'photos/../secrets/x', true],
    ['arn:aws:s3:::secrets/*', 'photos/../secrets/x', false],
    ['arn:aws:s3:::photos/a.c', 'photos/abc', false],
    ['arn:aws:s3:::photos/ü*', 'photos/über', true],
  ])('%j and "%s": %s', (Resource, resource, outcome) => {
    expect(applies({ Effect: 'Allow', Action: 's3:*', Resource }, { resource })).toBe(outcome);
    expect(applies({ Effect: 'Deny', Action: 's3:*', Resource }, { resource })).toBe(outcome);
  });

  it.each([
    '',
    'arn:aws:s3:::',
    'arn:minio:kms:::',
    'arn:aws:sns:::x',
    'arn:aws:s3:us-east-1::b',
    'arn:',
    `b/${'x'.repeat(2_048)}`,
  ])('is refused as "%s"', (Resource) => {
    expect(() => policyOf({ Effect: 'Allow', Action: 's3:*', Resource })).toThrow(
      expect.objectContaining({ code: 'MalformedPolicy', message: expect.stringContaining('Resource') }),
    );
  });
});

/** @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_notresource.html */
describe('NotResource', () => {
  it.each<[string | string[], string, boolean]>([
    ['arn:aws:s3:::secrets/*', 'photos/a.jpg', true],
    ['arn:aws:s3:::secrets/*', 'secrets/a', false],
    ['arn:aws:s3:::secrets/*', 'secrets', false],
    ['arn:aws:s3:::secrets/*', 'secrets2/a', true],
    ['arn:aws:s3:::secrets', 'secrets/a', true],
    [['arn:aws:s3:::a/*', 'arn:aws:s3:::b/*'], 'b/x', false],
    [['arn:aws:s3:::a/*', 'arn:aws:s3:::b/*'], 'c/x', true],
    ['*', 'photos/a.jpg', false],
    ['arn:aws:s3:::*', 'photos/a.jpg', false],
    ['arn:aws:s3:::secrets/*', '', true],
  ])('%j and "%s": %s', (NotResource, resource, outcome) => {
    expect(applies({ Effect: 'Allow', Action: 's3:*', NotResource }, { resource })).toBe(outcome);
    expect(applies({ Effect: 'Deny', Action: 's3:*', NotResource }, { resource })).toBe(outcome);
  });

  it('excludes Resource', () => {
    expect(() => policyOf({ Effect: 'Allow', Action: 's3:*', Resource: '*', NotResource: 'b' })).toThrow(
      /excludes Resource/,
    );
  });
});

describe('Resource of keys', () => {
  it.each<[string | string[] | undefined, string, boolean]>([
    ['arn:minio:kms:::tenant-*', 'tenant-a', true],
    ['arn:minio:kms:::tenant-*', 'arn:minio:kms:::tenant-a', true],
    ['arn:minio:kms:::tenant-*', 'other', false],
    ['arn:minio:kms:::tenant-a', 'tenant-a', true],
    ['arn:minio:kms:::tenant-a', 'tenant-ab', false],
    ['arn:minio:kms:::*', 'anything', true],
    ['*', 'anything', true],
    [undefined, 'anything', true],
    // No key is named: the statement's keys do not restrict it, as MinIO has it.
    ['arn:minio:kms:::tenant-*', '', true],
    [undefined, '', true],
    // Statements from before keys were resources.
    ['arn:aws:s3:::*', 'anything', true],
    ['arn:aws:s3:::photos/*', 'anything', true],
    // With one of each, only the key counts.
    [['arn:aws:s3:::tenant-b', 'arn:minio:kms:::tenant-a'], 'tenant-b', false],
    [['arn:aws:s3:::tenant-b', 'arn:minio:kms:::tenant-a'], 'tenant-a', true],
  ])('%j and "%s": %s', (Resource, resource, outcome) => {
    const statement = { Action: 'kms:*', ...(Resource === undefined ? {} : { Resource }) };
    const request = { action: 'kms:CreateKey', resource };
    expect(applies({ Effect: 'Allow', ...statement }, request)).toBe(outcome);
    expect(applies({ Effect: 'Deny', ...statement }, request)).toBe(outcome);
  });

  it.each([
    ['arn:minio:kms:::tenant-*', 'tenant-a', true],
    ['arn:minio:kms:::tenant-*', 'other', false],
    ['arn:minio:kms:::tenant-*', '', true],
    ['arn:aws:s3:::photos/*', 'other', true],
  ])('means the older actions of keys too: %s and "%s": %s', (Resource, resource, outcome) => {
    const statement = { Effect: 'Allow', Action: 'admin:*', Resource } as const;
    expect(applies(statement, { action: 'admin:KMSCreateKey', resource })).toBe(outcome);
  });

  it('excludes keys by NotResource', () => {
    const statement = { Effect: 'Allow', Action: 'kms:*', NotResource: 'arn:minio:kms:::master' } as const;
    expect(applies(statement, { action: 'kms:DeleteKey', resource: 'master' })).toBe(false);
    expect(applies(statement, { action: 'kms:DeleteKey', resource: 'other' })).toBe(true);
  });
});

describe('actions without a resource', () => {
  it.each<[string | string[], string | undefined, string, boolean]>([
    ['admin:*', undefined, 'admin:ServerInfo', true],
    ['admin:*', 'arn:aws:s3:::*', 'admin:ServerInfo', true],
    ['admin:ServerInfo', 'arn:aws:s3:::bucket/*', 'admin:ServerInfo', true],
    ['sts:*', undefined, 'sts:AssumeRole', true],
    ['*', undefined, 'admin:ServerInfo', true],
    ['*', '*', 'admin:ServerInfo', true],
    ['*', 'arn:aws:s3:::*', 'admin:ServerInfo', true],
    // Who gives everything in a bucket does not mean the whole store.
    ['*', 'arn:aws:s3:::bucket/*', 'admin:ServerInfo', false],
    ['*', 'arn:aws:s3:::bucket/*', 'kms:CreateKey', false],
    ['*', 'arn:aws:s3:::bucket/*', 'sts:AssumeRole', false],
    ['*', 'arn:aws:s3:::bucket*', 's3:ListAllMyBuckets', false],
    [['*', 'admin:ServerInfo'], 'arn:aws:s3:::bucket/*', 'admin:ServerInfo', true],
    [['*', 'admin:ServerInfo'], 'arn:aws:s3:::bucket/*', 'admin:CreateUser', false],
  ])('%j on %j and %s: %s', (Action, Resource, action, outcome) => {
    const statement = { Action, ...(Resource === undefined ? {} : { Resource }) };
    expect(applies({ Effect: 'Allow', ...statement }, { action, resource: '' })).toBe(outcome);
    expect(applies({ Effect: 'Deny', ...statement }, { action, resource: '' })).toBe(outcome);
  });

  it('are restricted where they name a bucket', () => {
    const statement = { Effect: 'Allow', Action: 'admin:SetBucketQuota', Resource: 'arn:aws:s3:::photos' } as const;
    expect(applies(statement, { action: 'admin:SetBucketQuota', resource: 'photos' })).toBe(true);
    expect(applies(statement, { action: 'admin:SetBucketQuota', resource: 'other' })).toBe(false);
  });

  it.each(['s3:*', 's3:GetObject'])('are no excuse for %s without one', (Action) => {
    expect(() => policyOf({ Effect: 'Allow', Action: [Action, 'admin:*'] })).toThrow(/need a Resource/);
  });
});
