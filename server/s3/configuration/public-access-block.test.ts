import { describe, expect, it } from 'vitest';
import { authorize } from '../../auth/authorize.ts';
import { bucketAccess } from '../../objects/buckets/bucket-access.ts';
import { testCalls, type TestCalls } from '../../../test/support/s3-api/s3-calls.ts';

const block = (flags: Record<string, unknown>) =>
  `<PublicAccessBlockConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${Object.entries(flags)
    .map(([name, flag]) => `<${name}>${String(flag)}</${name}>`)
    .join('')}</PublicAccessBlockConfiguration>`;
const policy = (Principal: unknown) =>
  JSON.stringify({
    Statement: [
      { Effect: 'Allow', Principal, Action: 's3:GetObject', Resource: 'arn:aws:s3:::bucket/*' },
      { Effect: 'Deny', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::bucket/secret' },
    ],
  });

async function putBlock({ call }: TestCalls, flags: Record<string, unknown>) {
  expect(await call('PUT', '/bucket?publicAccessBlock', { body: block(flags) })).toMatchObject({ status: 200 });
}

describe('the public access block of a bucket', () => {
  it('is none at first, is stored with all four flags, and is removed', async () => {
    const calls = await testCalls();
    const none = { status: 404, code: 'NoSuchPublicAccessBlockConfiguration' };
    expect(await calls.call('GET', '/bucket?publicAccessBlock')).toMatchObject(none);
    await putBlock(calls, { BlockPublicAcls: 'TRUE', RestrictPublicBuckets: 'true', IgnorePublicAcls: 'false' });
    const { body } = await calls.call('GET', '/bucket?publicAccessBlock');
    expect(body).toContain(
      '<BlockPublicAcls>true</BlockPublicAcls><IgnorePublicAcls>false</IgnorePublicAcls>' +
        '<BlockPublicPolicy>false</BlockPublicPolicy><RestrictPublicBuckets>true</RestrictPublicBuckets>',
    );
    expect(await calls.call('DELETE', '/bucket?publicAccessBlock')).toMatchObject({ status: 204 });
    expect(await calls.call('GET', '/bucket?publicAccessBlock')).toMatchObject(none);
  });

  it.each<[string, string, string?]>([
    ['GET', ''],
    ['PUT', block({})],
    ['DELETE', ''],
  ])('is answered NoSuchBucket for an absent bucket: %s', async (method, body) => {
    const { call } = await testCalls();
    const asked = await call(method, '/absent?publicAccessBlock', { body });
    expect(asked).toMatchObject({ status: 404, code: 'NoSuchBucket' });
  });

  it.each([
    ['another root', '<PublicAccessBlock/>'],
    ['another element', block({ BlockEverything: 'true' })],
    ['a flag that is neither', block({ BlockPublicAcls: 'yes' })],
    ['an empty flag', block({ BlockPublicAcls: '' })],
    ['a flag with elements', block({ BlockPublicAcls: 'true<a/>' })],
    [
      'a flag twice',
      '<PublicAccessBlockConfiguration><BlockPublicAcls>true</BlockPublicAcls><BlockPublicAcls>false</BlockPublicAcls></PublicAccessBlockConfiguration>',
    ],
    ['too many bytes', `${' '.repeat(4_096)}${block({})}`],
  ])('is refused with %s', async (_, body) => {
    const { call } = await testCalls();
    expect(await call('PUT', '/bucket?publicAccessBlock', { body })).toMatchObject({
      status: 400,
      code: 'MalformedXML',
    });
  });
});

describe('BlockPublicPolicy', () => {
  it('refuses a public policy, and no other one', async () => {
    const calls = await testCalls();
    await putBlock(calls, { BlockPublicPolicy: 'true' });
    const put = (principal: unknown) => calls.call('PUT', '/bucket?policy', { body: policy(principal) });
    expect(await put('*')).toMatchObject({ status: 403, code: 'AccessDenied' });
    expect(await calls.call('GET', '/bucket?policy')).toMatchObject({ code: 'NoSuchBucketPolicy' });
    expect(await put({ AWS: ['ann'] })).toMatchObject({ status: 204 });
  });

  it('keeps a public policy that is there', async () => {
    const calls = await testCalls();
    await calls.call('PUT', '/bucket?policy', { body: policy('*') });
    await putBlock(calls, { BlockPublicPolicy: 'true' });
    expect((await calls.call('GET', '/bucket?policyStatus')).body).toContain('<IsPublic>true</IsPublic>');
  });
});

describe('RestrictPublicBuckets', () => {
  const noHolders = { policiesOf: async () => [], groupsOf: async () => [], policy: async () => undefined };
  const ann = { kind: 'user', accessKey: 'ann', subject: { kind: 'user', name: 'ann' } } as const;

  it('takes what a public policy allows from callers without credentials, and keeps what it denies', async () => {
    const calls = await testCalls();
    await calls.call('PUT', '/bucket?policy', { body: policy('*') });
    const sources = {
      bucketAccess: bucketAccess(calls.records),
      objectTags: async () => undefined,
      objectAcl: async () => undefined,
    };
    const decide = (principal: typeof ann | { readonly kind: 'anonymous' }, key: string) =>
      authorize({ principal, action: 's3:GetObject', resource: `bucket/${key}`, context: {} }, noHolders, sources);
    const stranger = { kind: 'anonymous' } as const;
    expect(await decide(stranger, 'key')).toMatchObject({ kind: 'allow' });
    await putBlock(calls, { RestrictPublicBuckets: 'true' });
    expect(await decide(stranger, 'key')).toMatchObject({ kind: 'deny' });
    expect(await decide(stranger, 'secret')).toMatchObject({ kind: 'deny', explicit: true });
    expect(await decide(ann, 'key')).toMatchObject({ kind: 'allow' });
    expect(await decide(ann, 'secret')).toMatchObject({ kind: 'deny', explicit: true });
  });
});
