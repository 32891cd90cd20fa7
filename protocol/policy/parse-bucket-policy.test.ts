import { describe, expect, it } from 'vitest';
import { decide } from './decide.ts';
import { serializePolicy } from './document.ts';
import { isPublic } from './is-public.ts';
import { parseBucketPolicy } from './parse-policy.ts';

const statement = (changes: Record<string, unknown> = {}) => ({
  Effect: 'Allow',
  Principal: '*',
  Action: 's3:GetObject',
  Resource: 'arn:aws:s3:::photos/*',
  ...changes,
});
const parse = (...statements: Record<string, unknown>[]) =>
  parseBucketPolicy({ Version: '2012-10-17', Statement: statements }, 'photos');

describe('a bucket policy', () => {
  it.each([
    ['*', ['*']],
    [{ AWS: '*' }, ['*']],
    [{ AWS: ['ann', 'arn:aws:iam:::user/bob'] }, ['ann', 'arn:aws:iam:::user/bob']],
    [{ Service: 'logging.s3.amazonaws.com' }, ['arn:aws:service::logging.s3.amazonaws.com']],
    [{ AWS: 'ann', Service: ['s3.amazonaws.com'] }, ['ann', 'arn:aws:service::s3.amazonaws.com']],
  ])('is about %j', (Principal, principals) => {
    expect(parse(statement({ Principal })).statements[0]?.principals).toEqual(principals);
  });

  it.each([
    ['no Principal', { Principal: undefined }, /Principal nothing is missing/],
    ['a Principal that is a name alone', { Principal: 'ann' }, /"ann" must be "\*" or like/],
    ['a Principal of another kind', { Principal: { Federated: 'x' } }, /Federated/],
    [
      'a service that does nothing here',
      { Principal: { Service: 'ec2.amazonaws.com' } },
      /"ec2.amazonaws.com" is no service/,
    ],
    ['services by a wildcard', { Principal: { Service: '*' } }, /is no service/],
    ['no service', { Principal: { Service: [] } }, /Principal.Service/],
    ['a service as a user', { Principal: { AWS: 'arn:aws:service::s3.amazonaws.com' } }, /arn:aws:iam:::user/],
    ['an empty Principal', { Principal: { AWS: [] } }, /Principal.AWS/],
    ['a Principal with an ARN of no user', { Principal: { AWS: 'arn:aws:s3:::x' } }, /arn:aws:iam:::user/],
    ['a NotPrincipal', { Principal: undefined, NotPrincipal: '*' }, /NotPrincipal/],
    ['another bucket', { Resource: 'arn:aws:s3:::photos2/*' }, /not of this bucket/],
    ['anything', { Resource: '*' }, /not of this bucket/],
    ['other buckets by a wildcard', { Resource: 'arn:aws:s3:::videos*' }, /not of this bucket/],
    ['buckets by a variable', { Resource: 'arn:aws:s3:::${aws:username}*' }, /not of this bucket/],
    ['an action that is not of S3', { Action: 'admin:*' }, /no action on a bucket/],
    ['no Resource', { Resource: undefined }, /Resource/],
  ])('is refused with %s', (_, changes, message) => {
    expect(() => parse(statement(changes))).toThrow(
      expect.objectContaining({ code: 'MalformedPolicy', message: expect.stringMatching(message) }),
    );
  });

  it.each(['arn:aws:s3:::*', 'arn:aws:s3:::*/*', 'arn:aws:s3:::phot?s', 'arn:aws:s3:::photos*'])(
    'may name its bucket as %s, so that one document serves several buckets',
    (Resource) => {
      expect(parse(statement({ Resource })).statements).toHaveLength(1);
    },
  );

  it('is refused beyond 20 KiB, and where it is no JSON', () => {
    const large = { Statement: [statement({ Sid: 'x'.repeat(20_480) })] };
    expect(() => parseBucketPolicy(large, 'photos')).toThrow(/at most 20480/);
    expect(() => parseBucketPolicy('{', 'photos')).toThrow(/not valid JSON/);
  });
});

describe('a statement about a service of AWS', () => {
  const policy = parse(statement({ Principal: { Service: 's3.amazonaws.com' }, Action: 's3:PutObject' }));

  it('is about no caller, and not public', () => {
    expect(isPublic(policy)).toBe(false);
    for (const principals of [[], ['s3.amazonaws.com'], ['ann']]) {
      const request = { action: 's3:PutObject', resource: 'photos/key', principals, variables: {}, context: {} };
      expect(decide({ identity: [], bucket: { name: 'bucket', document: policy }, request }).effect).toBe('deny');
    }
  });

  it('is written as it was read', () => {
    const json = JSON.parse(serializePolicy(policy)) as { Statement: readonly { Principal: unknown }[] };
    expect(json.Statement[0]?.Principal).toEqual({ Service: ['s3.amazonaws.com'] });
    expect(parseBucketPolicy(json, 'photos')).toEqual(policy);
  });
});
