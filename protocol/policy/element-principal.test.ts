import { describe, expect, it } from 'vitest';
import { decide } from './decide.ts';
import { parseBucketPolicy } from './parse-policy.ts';
import { everything, policyOf, requestOf } from '../../test/support/policy/policy-cases.ts';

function allows(Principal: unknown, principals: readonly string[] | undefined): boolean {
  const Statement = [{ Effect: 'Allow', Principal, Action: 's3:*', Resource: 'arn:aws:s3:::bucket/*' }];
  const bucket = { name: 'bucket bucket', document: parseBucketPolicy({ Statement }, 'bucket') };
  const request = requestOf(principals === undefined ? {} : { principals });
  return decide({ identity: [], bucket, request }).effect === 'allow';
}

/** @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_principal.html */
describe('Principal', () => {
  it.each<[unknown, readonly string[] | undefined, boolean]>([
    ['*', [], true],
    ['*', ['ann'], true],
    [{ AWS: '*' }, [], true],
    [{ AWS: ['*'] }, ['ann'], true],
    [{ AWS: 'ann' }, ['ann'], true],
    [{ AWS: 'ann' }, ['Ann'], false],
    [{ AWS: 'ann' }, ['anna'], false],
    [{ AWS: 'ann' }, [], false],
    [{ AWS: ['ann', 'bob'] }, ['bob'], true],
    [{ AWS: ['ann', 'bob'] }, ['eve'], false],
    // A sender may have several names, such as a person and an access key.
    [{ AWS: 'AKIA1' }, ['ann', 'AKIA1'], true],
    [{ AWS: 'arn:aws:iam:::user/ann' }, ['ann'], true],
    [{ AWS: 'arn:aws:iam::123456789012:user/ann' }, ['ann'], true],
    [{ AWS: 'arn:minio:iam:::user/ann' }, ['ann'], true],
    [{ AWS: 'arn:aws:iam:::user/division/ann' }, ['ann'], true],
    [{ AWS: 'arn:aws:iam:::user/ann' }, ['bob'], false],
    [{ AWS: 'arn:aws:iam:::user/*' }, ['bob'], true],
    [{ AWS: 'arn:aws:iam:::user/*' }, [], false],
    [{ AWS: 'team-*' }, ['team-a'], true],
    [{ AWS: 'team-*' }, ['other'], false],
    [{ AWS: '?nn' }, ['ann'], true],
    // A star beside other text is a wildcard, and needs credentials.
    [{ AWS: '**' }, [], false],
    // The account is the root user, who needs no policy.
    [{ AWS: 'arn:aws:iam::123456789012:root' }, ['ann'], false],
    // Who asks was not said: nobody.
    ['*', undefined, false],
  ])('%j and %j: %s', (principal, names, outcome) => {
    expect(allows(principal, names)).toBe(outcome);
  });
});

/** What a bucket policy decides for strangers, who may otherwise do nothing (Allow) or everything (Deny). */
function decides(Effect: 'Allow' | 'Deny', Resource: string, resource: string): string {
  const Statement = [{ Effect, Principal: '*', Action: 's3:*', Resource }];
  const bucket = { name: 'bucket bucket', document: parseBucketPolicy({ Statement }, 'bucket') };
  const identity = Effect === 'Allow' ? [] : [policyOf(everything)];
  return decide({ identity, bucket, request: requestOf({ resource, principals: [] }) }).effect;
}

describe('the resources of a bucket policy', () => {
  it('open the objects without the bucket: who gives strangers the objects does not mean the list of them', () => {
    expect(decides('Allow', 'arn:aws:s3:::bucket/*', 'bucket/key')).toBe('allow');
    expect(decides('Allow', 'arn:aws:s3:::bucket/*', 'bucket')).toBe('deny');
    expect(decides('Allow', 'arn:aws:s3:::bucket', 'bucket')).toBe('allow');
    expect(decides('Allow', 'arn:aws:s3:::bucket', 'bucket/key')).toBe('deny');
  });

  it('close the bucket with its objects', () => {
    expect(decides('Deny', 'arn:aws:s3:::bucket/*', 'bucket/key')).toBe('deny');
    expect(decides('Deny', 'arn:aws:s3:::bucket/*', 'bucket')).toBe('deny');
    expect(decides('Deny', 'arn:aws:s3:::bucket', 'bucket/key')).toBe('allow');
  });
});
