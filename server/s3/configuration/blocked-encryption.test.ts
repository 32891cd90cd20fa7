import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type TestCalls, testCalls } from '../../../test/support/s3-api/s3-calls.ts';

const prefix = 'x-amz-server-side-encryption-customer-';
const sourcePrefix = 'x-amz-copy-source-server-side-encryption-customer-';
const bytes = randomBytes(32);

function keyHeaders(of = prefix): Record<string, string> {
  const md5 = createHash('md5').update(bytes).digest('base64');
  return { [`${of}algorithm`]: 'AES256', [`${of}key`]: bytes.toString('base64'), [`${of}key-md5`]: md5 };
}

const configuration = (type: string, defaults = '') =>
  `<ServerSideEncryptionConfiguration><Rule>${defaults}<BlockedEncryptionTypes><EncryptionType>${type}</EncryptionType>` +
  '</BlockedEncryptionTypes></Rule></ServerSideEncryptionConfiguration>';
const block = ({ call }: TestCalls, type = 'SSE-C') => call('PUT', '/bucket?encryption', { body: configuration(type) });
const rejected = { code: 'AccessDenied', status: 403, body: expect.stringContaining('BlockedEncryptionTypes') };

/** A bucket with an object and an upload under a client's key, which blocks such keys since. */
async function blocked() {
  const test = await testCalls();
  const { call } = test;
  await call('PUT', '/bucket/before', { headers: keyHeaders(), body: 'before' });
  const begun = await call('POST', '/bucket/parts?uploads', { headers: keyHeaders() });
  const uploadId = /<UploadId>(.*)<\/UploadId>/.exec(begun.body)?.[1] ?? '';
  const part = await call('PUT', `/bucket/parts?uploadId=${uploadId}&partNumber=1`, {
    headers: keyHeaders(),
    body: 'part',
  });
  expect((await block(test)).status).toBe(200);
  return { ...test, uploadId, etag: part.headers['etag'] };
}

describe('a bucket that blocks keys of clients', () => {
  it('says so in the answer', async () => {
    const { call } = await blocked();
    expect((await call('GET', '/bucket?encryption')).body).toContain(
      '<Rule><BlockedEncryptionTypes><EncryptionType>SSE-C</EncryptionType></BlockedEncryptionTypes></Rule>',
    );
  });

  it('refuses to put an object under one', async () => {
    const { call } = await blocked();
    expect(await call('PUT', '/bucket/after', { headers: keyHeaders(), body: 'x' })).toMatchObject(rejected);
    expect((await call('HEAD', '/bucket/after', { headers: keyHeaders() })).status).toBe(404);
  });

  it('refuses to copy an object to one', async () => {
    const { call } = await blocked();
    const headers = { 'x-amz-copy-source': 'bucket/before', ...keyHeaders(sourcePrefix), ...keyHeaders() };
    // A copy's answer may have begun already: then the refusal is its body.
    expect((await call('PUT', '/bucket/copy', { headers })).code).toBe('AccessDenied');
    expect((await call('HEAD', '/bucket/copy', { headers: keyHeaders() })).status).toBe(404);
  });

  it('refuses to begin an upload under one', async () => {
    const { call } = await blocked();
    expect(await call('POST', '/bucket/after?uploads', { headers: keyHeaders() })).toMatchObject(rejected);
  });

  it('refuses parts of an upload that was begun before, and its end', async () => {
    const { call, uploadId, etag } = await blocked();
    const path = `/bucket/parts?uploadId=${uploadId}`;
    expect(await call('PUT', `${path}&partNumber=2`, { headers: keyHeaders(), body: 'x' })).toMatchObject(rejected);
    const list = `<Part><PartNumber>1</PartNumber><ETag>${etag}</ETag></Part>`;
    const body = `<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`;
    expect((await call('POST', path, { body })).body).toContain('AccessDenied');
    expect((await call('DELETE', path)).status).toBe(204);
  });

  it('reads what was written before, and copies it to another kind', async () => {
    const { call } = await blocked();
    expect((await call('GET', '/bucket/before', { headers: keyHeaders() })).body).toBe('before');
    const headers = { 'x-amz-copy-source': 'bucket/before', ...keyHeaders(sourcePrefix) };
    expect((await call('PUT', '/bucket/copy', { headers })).code).toBeUndefined();
    expect((await call('GET', '/bucket/copy')).body).toBe('before');
  });

  it('takes plain objects and those of other kinds, and has no default of itself', async () => {
    const { call } = await blocked();
    const plain = await call('PUT', '/bucket/plain', { body: 'x' });
    expect([plain.status, plain.headers['x-amz-server-side-encryption']]).toEqual([200, undefined]);
    const headers = { 'x-amz-server-side-encryption': 'aws:kms' };
    expect((await call('PUT', '/bucket/kms', { headers, body: 'x' })).status).toBe(200);
  });

  it('takes them again when its configuration says NONE, or nothing of it', async () => {
    const test = await blocked();
    const put = () => test.call('PUT', '/bucket/after', { headers: keyHeaders(), body: 'x' });
    await block(test, 'NONE');
    expect((await put()).status).toBe(200);
    await block(test);
    expect((await put()).status).toBe(403);
    await test.call('DELETE', '/bucket?encryption');
    expect((await put()).status).toBe(200);
  });

  it('may have a default besides', async () => {
    const test = await testCalls();
    const defaults =
      '<ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault>';
    await test.call('PUT', '/bucket?encryption', { body: configuration('SSE-C', defaults) });
    expect((await test.call('GET', '/bucket?encryption')).body).toContain(`<Rule>${defaults}<BlockedEncryptionTypes>`);
    expect((await test.call('PUT', '/bucket/x', { body: 'x' })).headers).toMatchObject({
      'x-amz-server-side-encryption': 'AES256',
    });
    expect(await test.call('PUT', '/bucket/x', { headers: keyHeaders(), body: 'x' })).toMatchObject(rejected);
  });
});
