import { expect, it, describe } from 'vitest';
import { evaluate } from '../../../protocol/policy/evaluate.ts';
import { parseBucketPolicy } from '../../../protocol/policy/parse-policy.ts';
import { type TestCalls, testCalls } from '../../../test/support/s3-api/s3-calls.ts';

const scheme = 'x-amz-server-side-encryption';
const keyId = `${scheme}-aws-kms-key-id`;
const path = '/bucket/key';

/** Calls of a bucket whose policy denies puts under this condition. */
async function denying(condition: Record<string, Record<string, string>>): Promise<TestCalls> {
  const text = JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Deny',
        Principal: '*',
        Action: 's3:PutObject',
        Resource: 'arn:aws:s3:::bucket/*',
        Condition: condition,
      },
    ],
  });
  const policies = [{ name: 'of the bucket', document: parseBucketPolicy(text, 'bucket') }];
  const test = await testCalls({
    authorize: ({ action, resource, context }) =>
      evaluate(policies, { action, resource, context, variables: {}, principals: ['*'] }).effect !== 'deny',
  });
  test.keyService.keys.set('k', Buffer.alloc(32, 1));
  return test;
}

const kms = (name?: string) => ({ [scheme]: 'aws:kms', ...(name === undefined ? {} : { [keyId]: name }) });

describe('a policy that refuses what is not encrypted', () => {
  const condition = { Null: { [`s3:${scheme}`]: 'true' } };

  it('refuses a plain put and a plain copy, and takes encrypted ones', async () => {
    const { call } = await denying(condition);
    expect(await call('PUT', path, { body: 'x' })).toMatchObject({ code: 'AccessDenied' });
    expect((await call('PUT', path, { body: 'x', headers: { [scheme]: 'AES256' } })).status).toBe(200);
    const copy = { 'x-amz-copy-source': 'bucket/key' };
    expect(await call('PUT', '/bucket/copy', { headers: copy })).toMatchObject({ code: 'AccessDenied' });
    expect((await call('PUT', '/bucket/copy', { headers: { ...copy, ...kms() } })).code).toBeUndefined();
  });

  it('takes every request of an upload that was begun with encryption, and none that was not', async () => {
    const { call, layer } = await denying(condition);
    expect(await call('POST', `${path}?uploads`)).toMatchObject({ code: 'AccessDenied' });
    const { body } = await call('POST', `${path}?uploads`, { headers: kms() });
    const uploadId = /<UploadId>(.*)<\/UploadId>/.exec(body)?.[1] ?? '';
    const put = await call('PUT', `${path}?uploadId=${uploadId}&partNumber=1`, { body: 'x' });
    const list = `<Part><PartNumber>1</PartNumber><ETag>${put.headers['etag']}</ETag></Part>`;
    const done = await call('POST', `${path}?uploadId=${uploadId}`, {
      body: `<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`,
    });
    expect([put.status, done.status, done.code]).toEqual([200, 200, undefined]);
    const plain = await layer.createMultipartUpload({ bucket: 'bucket', key: 'key', headers: { metadata: {} } });
    const rejected = await call('PUT', `${path}?uploadId=${plain.uploadId}&partNumber=1`, { body: 'x' });
    expect(rejected).toMatchObject({ code: 'AccessDenied' });
  });

  it('does not reveal an upload to a caller who may not write', async () => {
    const { call } = await denying(condition);
    const unknown = '0'.repeat(32);
    const answer = await call('PUT', `${path}?uploadId=${unknown}&partNumber=1`, { body: 'x' });
    expect(answer).toMatchObject({ code: 'AccessDenied' });
  });
});

describe('a policy about the kind of encryption', () => {
  it('demands SSE-KMS', async () => {
    const { call } = await denying({ StringNotEquals: { [`s3:${scheme}`]: 'aws:kms' } });
    expect(await call('PUT', path, { body: 'x' })).toMatchObject({ code: 'AccessDenied' });
    expect(await call('PUT', path, { body: 'x', headers: { [scheme]: 'AES256' } })).toMatchObject({
      code: 'AccessDenied',
    });
    expect((await call('PUT', path, { body: 'x', headers: kms() })).status).toBe(200);
  });
});

describe('a policy about the key', () => {
  const forms = ['k', 'arn:aws:kms:k'];
  const both = forms.flatMap((written) =>
    [...forms, 'arn:aws:kms:us-east-1:123456789012:key/k'].map((sent) => [written, sent] as const),
  );

  it.each(both)('that demands %s takes %s, and no other', async (written, sent) => {
    const { call } = await denying({ StringNotEquals: { [`s3:${keyId}`]: written } });
    expect((await call('PUT', path, { body: 'x', headers: kms(sent) })).status).toBe(200);
    for (const headers of [kms('default-key'), kms()]) {
      expect(await call('PUT', path, { body: 'x', headers })).toMatchObject({ code: 'AccessDenied' });
    }
  });

  it.each(both)('that forbids %s forbids %s', async (written, sent) => {
    const { call } = await denying({ StringEquals: { [`s3:${keyId}`]: written } });
    expect(await call('PUT', path, { body: 'x', headers: kms(sent) })).toMatchObject({ code: 'AccessDenied' });
    expect((await call('PUT', path, { body: 'x', headers: kms('default-key') })).status).toBe(200);
  });
});

const rule = (name: string) =>
  `<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>aws:kms</SSEAlgorithm>` +
  `<KMSMasterKeyID>${name}</KMSMasterKeyID></ApplyServerSideEncryptionByDefault><BucketKeyEnabled>true</BucketKeyEnabled>` +
  `</Rule></ServerSideEncryptionConfiguration>`;

it("a bucket's default of a key that does not exist is refused, also where the name was known before", async () => {
  const { call, keyService } = await testCalls();
  const rejected = { code: 'KMS.NotFoundException', status: 400 };
  expect(await call('PUT', '/bucket?encryption', { body: rule('k') })).toMatchObject(rejected);
  keyService.keys.set('k', Buffer.alloc(32, 1));
  expect((await call('PUT', '/bucket?encryption', { body: rule('k') })).status).toBe(200);
  expect((await call('GET', '/bucket?encryption')).body).toContain('<BucketKeyEnabled>true</BucketKeyEnabled>');
  const put = await call('PUT', path, { body: 'x' });
  expect(put.headers).toMatchObject({ [keyId]: 'arn:aws:kms:k', [`${scheme}-bucket-key-enabled`]: 'true' });
  keyService.keys.delete('k');
  expect(await call('PUT', '/bucket?encryption', { body: rule('k') })).toMatchObject(rejected);
});
