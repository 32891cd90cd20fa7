import { describe, expect, it } from 'vitest';
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
  ])('is about %j', (Principal, principals) => {
    expect(parse(statement({ Principal })).statements[0]?.principals).toEqual(principals);
  });

  it.each([
    ['no Principal', { Principal: undefined }, /Principal nothing is missing/],
    ['a Principal that is a name alone', { Principal: 'ann' }, /"ann" must be "\*" or like/],
    ['a Principal of another kind', { Principal: { Service: 'x' } }, /Service/],
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
