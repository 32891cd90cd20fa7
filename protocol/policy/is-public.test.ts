import { describe, expect, it } from 'vitest';
import { isPublic } from './is-public.ts';
import { parseBucketPolicy } from './parse-policy.ts';

const policy = (changes: Record<string, unknown>) =>
  parseBucketPolicy(
    {
      Statement: [
        { Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::photos/*', ...changes },
      ],
    },
    'photos',
  );

describe('a bucket policy is public', () => {
  it.each<[string, Record<string, unknown>]>([
    ['where it allows everyone', {}],
    ['with AWS: *', { Principal: { AWS: ['ann', '*'] } }],
    ['with a pattern of all names', { Principal: { AWS: ['*?'] } }],
    ['with a condition that tells no callers apart', { Condition: { StringLike: { 'aws:Referer': 'https://a/' } } }],
    ['with TLS alone', { Condition: { Bool: { 'aws:SecureTransport': 'true' } } }],
    ['with a wildcard', { Condition: { StringLike: { 'aws:username': 'a*' } } }],
    ['with a variable', { Condition: { StringEquals: { 'aws:username': '${jwt:sub}' } } }],
    ['with one wide range of several', { Condition: { IpAddress: { 'aws:SourceIp': ['10.0.0.0/8', '0.0.0.0/1'] } } }],
    ['with a wide range of IPv6', { Condition: { IpAddress: { 'aws:SourceIp': '2000::/3' } } }],
    ['with all but some addresses', { Condition: { NotIpAddress: { 'aws:SourceIp': '10.0.0.0/8' } } }],
    ['with all but a user', { Condition: { StringNotEquals: { 'aws:username': 'ann' } } }],
    ['for callers without the key', { Condition: { StringEqualsIfExists: { 'aws:username': 'ann' } } }],
    ['for all values', { Condition: { 'ForAllValues:StringEquals': { 'aws:groups': ['staff'] } } }],
    ['for callers without a name', { Condition: { Null: { 'aws:username': 'true' } } }],
  ])('%s', (_, changes) => {
    expect(isPublic(policy(changes))).toBe(true);
  });
});

describe('a bucket policy is not public', () => {
  it.each<[string, Record<string, unknown>]>([
    ['for a user', { Principal: { AWS: ['ann'] } }],
    ['for users of a prefix', { Principal: { AWS: ['ann*'] } }],
    ['as a Deny', { Effect: 'Deny' }],
    ['for an address', { Condition: { StringEquals: { 'aws:SourceIp': '10.0.0.1' } } }],
    ['for ranges', { Condition: { IpAddress: { 'aws:SourceIp': ['11.0.0.0/8', '2001:db8::/32'] } } }],
    ['for a name', { Condition: { StringEquals: { 'aws:username': ['ann', 'bob'] } } }],
    [
      'for a name beside another condition',
      {
        Condition: { StringLike: { 'aws:username': 'ann' }, Bool: { 'aws:SecureTransport': 'true' } },
      },
    ],
    ['for members of a group', { Condition: { 'ForAnyValue:StringEquals': { 'aws:groups': ['staff'] } } }],
    ['for a claim', { Condition: { StringEquals: { 'jwt:sub': '1' } } }],
    ['for a network of AWS', { Condition: { StringEquals: { 'aws:SourceVpc': 'vpc-1' } } }],
  ])('%s', (_, changes) => {
    expect(isPublic(policy(changes))).toBe(false);
  });
});
