import { describe, expect, it } from 'vitest';
import { aclCalls } from '../../../test/support/s3-api/acl-calls.ts';

const long = 'arn:aws:kms:eu-central-1:111122223333:key/main';
const forms = ['main', 'arn:aws:kms:main', long];
const header = 's3:x-amz-server-side-encryption-aws-kms-key-id';
const pairs = forms.flatMap((inPolicy) => forms.map((inRequest) => [inPolicy, inRequest] as const));

const statement = (Effect: string, Condition?: Record<string, unknown>) => ({
  Effect,
  Action: 's3:PutObject',
  Resource: 'arn:aws:s3:::bucket/*',
  ...(Condition && { Condition }),
});

/** Puts an object with a key, and returns the error code; undefined for an object that was stored. */
async function putWith(key: string, ...statements: readonly Record<string, unknown>[]): Promise<string | undefined> {
  const { as, keyService } = await aclCalls({ ann: statements });
  for (const name of ['main', 'other']) keyService.keys.set(name, Buffer.alloc(32, 1));
  const headers = { 'x-amz-server-side-encryption': 'aws:kms', 'x-amz-server-side-encryption-aws-kms-key-id': key };
  return (await as('ann', 'PUT', '/bucket/key', { headers, body: 'x' })).code;
}

const denying = (key: string, condition: Record<string, unknown>) =>
  putWith(key, statement('Allow'), statement('Deny', condition));

describe('a policy about a key', () => {
  it.each(pairs)('that denies %s denies %s, and no other', async (inPolicy, inRequest) => {
    const patterns = [
      { StringEquals: { [header]: inPolicy } },
      { StringEqualsIgnoreCase: { [header]: inPolicy.toUpperCase() } },
      { StringLike: { [header]: inPolicy.replace('main', 'ma*') } },
      { 'ForAnyValue:StringEquals': { [header]: inPolicy } },
    ];
    for (const condition of patterns) {
      expect(await denying(inRequest, condition)).toBe('AccessDenied');
      expect(await denying(inRequest.replace('main', 'other'), condition)).toBeUndefined();
    }
  });

  it.each(pairs)('that denies all but %s takes %s, and no other', async (inPolicy, inRequest) => {
    for (const operator of ['StringNotEquals', 'StringNotLike', 'ForAnyValue:StringNotEquals']) {
      const condition = { [operator]: { [header]: inPolicy } };
      expect(await denying(inRequest, condition)).toBeUndefined();
      expect(await denying(inRequest.replace('main', 'other'), condition)).toBe('AccessDenied');
    }
  });

  it.each(forms)('compares all values of the request, %s alone', async (key) => {
    const allow = statement('Allow', { 'ForAllValues:StringEquals': { [header]: 'main' } });
    expect(await putWith(key, allow)).toBeUndefined();
    expect(await putWith(key.replace('main', 'other'), allow)).toBe('AccessDenied');
  });

  it.each(forms)('compares the name of %s by an operator of ARNs', async (key) => {
    for (const operator of ['ArnNotEqualsIfExists', 'ArnNotLike']) {
      const condition = { [operator]: { [header]: long } };
      expect(await denying(key, condition)).toBeUndefined();
      expect(await denying(key.replace('main', 'other'), condition)).toBe('AccessDenied');
    }
    const denied = { ArnLike: { [header]: 'arn:aws:kms:*:*:key/ma*' } };
    expect(await denying(key, denied)).toBe('AccessDenied');
    expect(await denying(key.replace('main', 'other'), denied)).toBeUndefined();
  });

  it.each([
    'arn:aws:kms:*:key/main',
    '*:key/main',
    '*key/main',
    '*/main',
    'arn:aws:kms:*key/main',
    'arn:*:kms:*:*:key/main',
    'arn:aws:kms:eu-*/main',
    'arn:aws:kms:*:main',
    'arn:*main',
    'arn:aws:kms:eu-central-1:1*main',
    'arn:aws:kms:eu-central-1:111122223333:*main',
    'arn:aws:kms:eu-central-1:111122223333:k*main',
    'arn:aws:kms:${aws:PrincipalTag/r}:1:key/main',
  ])('that denies %s denies the key in each form', async (pattern) => {
    for (const key of forms) {
      expect(await denying(key, { StringLike: { [header]: pattern } })).toBe('AccessDenied');
      expect(await denying(key.replace('main', 'other'), { StringLike: { [header]: pattern } })).toBeUndefined();
    }
  });

  it.each([
    'arn:aws:kms:*',
    'arn:aws:kms:*:111122223333:*',
    'arn:aws:kms:*:1*',
    'arn:aws:kms:*:*:key*',
    'arn:aws:kms:*:key/*',
  ])('that denies %s denies each key', async (pattern) => {
    for (const key of forms) expect(await denying(key, { StringLike: { [header]: pattern } })).toBe('AccessDenied');
  });

  it('takes a key by the name of its user', async () => {
    const allow = statement('Allow', { StringEquals: { [header]: 'arn:aws:kms:eu-central-1:1:key/${aws:username}' } });
    expect(await putWith('ann', allow)).not.toBe('AccessDenied');
    expect(await putWith('main', allow)).toBe('AccessDenied');
  });

  it.each(['NumericEquals', 'DateEquals', 'BinaryEquals', 'IpAddress'])(
    'by %s leaves its values alone',
    async (operator) => {
      const value = {
        NumericEquals: '1',
        DateEquals: '2026-11-21T20:40:00Z',
        BinaryEquals: 'a/+0',
        IpAddress: '10.0.0.0/8',
      }[operator];
      expect(['AccessDenied', undefined]).toContain(await denying('main', { [operator]: { [header]: value } }));
    },
  );
});
