import { beforeEach, describe, expect, it } from 'vitest';
import { aclCalls, type AclCalls, ownershipDocument } from '../../../test/support/s3-api/acl-calls.ts';

const path = '/v20180820/configuration/publicAccessBlock';
const headers = { 'x-amz-account-id': '000000000000' };
const block = (flag: string) =>
  '<PublicAccessBlockConfiguration xmlns="http://awss3control.amazonaws.com/doc/2018-08-20/">' +
  `<${flag}>true</${flag}></PublicAccessBlockConfiguration>`;
const policy = JSON.stringify({
  Statement: [{ Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::bucket/*' }],
});

let calls: AclCalls;
beforeEach(async () => {
  const own = ['s3:GetAccountPublicAccessBlock', 's3:PutAccountPublicAccessBlock'];
  calls = await aclCalls({
    ann: [{ Effect: 'Allow', Action: own, Resource: '*' }],
    bob: [{ Effect: 'Allow', Action: 's3:PutBucketPublicAccessBlock', Resource: '*' }],
  });
  await calls.as('root', 'PUT', '/bucket/key', { body: 'content' });
});
const put = (flag: string) => calls.as('ann', 'PUT', path, { headers, body: block(flag) });
const read = () => calls.as('stranger', 'GET', '/bucket/key');

describe('the public access block of the account', () => {
  it('is none at first, is stored, and is removed', async () => {
    const none = { status: 404, code: 'NoSuchPublicAccessBlockConfiguration' };
    expect(await calls.as('ann', 'GET', path, { headers })).toMatchObject(none);
    expect((await put('BlockPublicAcls')).status).toBe(200);
    const { body } = await calls.as('ann', 'GET', path, { headers });
    expect(body).toContain('<BlockPublicAcls>true</BlockPublicAcls><IgnorePublicAcls>false</IgnorePublicAcls>');
    expect(body).toContain('http://awss3control.amazonaws.com/doc/2018-08-20/');
    for (const _time of [1, 2]) expect((await calls.as('ann', 'DELETE', path, { headers })).status).toBe(204);
    expect(await calls.as('ann', 'GET', path, { headers })).toMatchObject(none);
  });

  it.each([
    ['a caller without the right', 'bob', 'PUT', path, headers, 403, 'AccessDenied'],
    ['a caller without credentials', 'stranger', 'GET', path, headers, 403, 'AccessDenied'],
    ['another account', 'ann', 'PUT', path, { 'x-amz-account-id': '123456789012' }, 403, 'AccessDenied'],
    ['another method', 'ann', 'POST', path, headers, 405, 'MethodNotAllowed'],
    ['another path', 'root', 'GET', '/v20180820/accesspoint', headers, 501, 'NotImplemented'],
    ['a request of a bucket', 'root', 'GET', '/bucket/key', headers, 501, 'NotImplemented'],
  ] as const)('is refused to %s', async (_what, caller, method, target, sent, status, code) => {
    const reply = await calls.as(caller, method, target, { headers: sent, body: block('BlockPublicAcls') });
    expect(reply).toMatchObject({ status, code });
    expect((await calls.as('ann', 'GET', path, { headers })).code).toBe('NoSuchPublicAccessBlockConfiguration');
  });

  it('reads no document of a caller without the right', async () => {
    const reply = await calls.as('bob', 'PUT', path, { headers, body: block('BlockPublicAcls') });
    expect(reply.bytesRead).toBe(0);
  });

  it('leaves a bucket of the same name alone', async () => {
    await calls.as('root', 'PUT', '/v20180820');
    await calls.as('root', 'PUT', path, { body: 'an object' });
    expect((await calls.as('root', 'GET', path)).body).toBe('an object');
    expect((await calls.as('root', 'GET', path, { headers })).status).toBe(404);
  });

  it('blocks public policies of all buckets', async () => {
    await put('BlockPublicPolicy');
    expect((await calls.as('root', 'PUT', '/bucket?policy', { body: policy })).code).toBe('AccessDenied');
    await calls.as('ann', 'DELETE', path, { headers });
    expect((await calls.as('root', 'PUT', '/bucket?policy', { body: policy })).status).toBe(204);
  });

  it('takes what public policies allow from callers without credentials, at once', async () => {
    await calls.as('root', 'PUT', '/bucket?policy', { body: policy });
    expect((await read()).status).toBe(200);
    await put('RestrictPublicBuckets');
    expect((await read()).status).toBe(403);
    await calls.as('ann', 'DELETE', path, { headers });
    expect((await read()).status).toBe(200);
  });

  describe('with ACLs', () => {
    const publicAcl = { headers: { 'x-amz-acl': 'public-read' } };
    beforeEach(() => calls.as('root', 'PUT', '/bucket?ownershipControls', { body: ownershipDocument('ObjectWriter') }));

    it.each([
      ['PUT', '/bucket?acl'],
      ['PUT', '/bucket/key?acl'],
      ['PUT', '/bucket/new'],
      ['POST', '/bucket/new?uploads'],
      ['PUT', '/another'],
    ])('blocks public ACLs: %s %s', async (method, target) => {
      const more = { ...publicAcl.headers, ...(target === '/another' && { 'x-amz-object-ownership': 'ObjectWriter' }) };
      await put('BlockPublicAcls');
      expect((await calls.as('root', method, target, { headers: more })).code).toBe('AccessDenied');
      await calls.as('ann', 'DELETE', path, { headers });
      expect((await calls.as('root', method, target, { headers: more })).status).toBe(200);
    });

    it('ignores public ACLs', async () => {
      await calls.as('root', 'PUT', '/bucket/key?acl', publicAcl);
      expect((await read()).status).toBe(200);
      await put('IgnorePublicAcls');
      expect((await read()).status).toBe(403);
    });

    it('counts together with that of the bucket', async () => {
      await calls.as('root', 'PUT', '/bucket/key?acl', publicAcl);
      const ofBucket = { body: block('IgnorePublicAcls').replace(/ xmlns="[^"]*"/, '') };
      await calls.as('root', 'PUT', '/bucket?publicAccessBlock', ofBucket);
      await put('BlockPublicPolicy');
      expect((await read()).status).toBe(403);
      expect((await calls.as('root', 'PUT', '/bucket?policy', { body: policy })).code).toBe('AccessDenied');
    });
  });
});
