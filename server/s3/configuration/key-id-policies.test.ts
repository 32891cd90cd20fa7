import { describe, expect, it } from 'vitest';
import { aclCalls } from '../../../test/support/s3-api/acl-calls.ts';

const forms = ['main', 'arn:aws:kms:main', 'arn:aws:kms:eu-central-1:111122223333:key/main'];
const header = 's3:x-amz-server-side-encryption-aws-kms-key-id';
const pairs = forms.flatMap((inPolicy) => forms.map((inRequest) => [inPolicy, inRequest] as const));

async function putWith(key: string, condition: Record<string, unknown>): Promise<number> {
  const { as } = await aclCalls({
    ann: [
      { Effect: 'Allow', Action: 's3:PutObject', Resource: 'arn:aws:s3:::bucket/*' },
      { Effect: 'Deny', Action: 's3:PutObject', Resource: 'arn:aws:s3:::bucket/*', Condition: condition },
    ],
  });
  const headers = { 'x-amz-server-side-encryption': 'aws:kms', 'x-amz-server-side-encryption-aws-kms-key-id': key };
  return (await as('ann', 'PUT', '/bucket/key', { headers, body: 'x' })).status;
}

describe('a policy about a key', () => {
  it.each(pairs)('that denies %s denies %s', async (inPolicy, inRequest) => {
    expect(await putWith(inRequest, { StringEquals: { [header]: inPolicy } })).toBe(403);
    expect(await putWith(inRequest, { StringLike: { [header]: inPolicy.replace('main', 'ma*') } })).toBe(403);
  });

  it.each(pairs)('that denies all but %s takes %s, and no other', async (inPolicy, inRequest) => {
    const condition = { StringNotEquals: { [header]: inPolicy } };
    expect(await putWith(inRequest, condition)).not.toBe(403);
    expect(await putWith(inRequest.replace('main', 'other'), condition)).toBe(403);
  });
});
