import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { randomBody, readAll } from '../../../test/support/objects/test-layer.ts';
import { testCalls, type TestCalls } from '../../../test/support/s3-api/s3-calls.ts';
import { verifyStores } from '../../maintenance/verify/verify-stores.ts';

let calls: TestCalls;
let etag: string;
/** Requests that the policies deny. */
let denied: string[];
beforeEach(async () => {
  denied = [];
  calls = await testCalls({
    authorize: ({ action, resource }) => !denied.includes(`${action} ${resource}`),
    layer: { inlineLimit: 1_000 },
  });
  const headers = { 'x-amz-meta-colour': 'blue', 'content-type': 'text/x-a', 'x-amz-tagging': 'a=b' };
  etag = (await calls.call('PUT', '/bucket/from', { body: 'content', headers })).headers['etag'] ?? '';
});

const rename = (to: string, headers: Readonly<Record<string, string>> = {}) =>
  calls.call('PUT', `/bucket/${to}?renameObject`, { headers: { 'x-amz-rename-source': '/from', ...headers } });
const get = async (key: string) => (await calls.call('GET', `/bucket/${key}`)).body;
const code = async (key: string) => (await calls.call('HEAD', `/bucket/${key}`)).code;

describe('RenameObject', () => {
  it('moves the object with its metadata, its tags, its ETag and its time', async () => {
    const before = await calls.call('GET', '/bucket/from');
    expect(await rename('to')).toMatchObject({ status: 200, body: '' });
    expect(await calls.call('GET', '/bucket/to')).toEqual(before);
    expect((await calls.call('GET', '/bucket/to?tagging')).body).toContain('<Key>a</Key>');
    expect(await code('from')).toBe('NoSuchKey');
  });

  it('replaces what has the new key', async () => {
    await calls.call('PUT', '/bucket/to', { body: randomBody(5_000) });
    expect((await rename('to')).status).toBe(200);
    expect(await get('to')).toBe('content');
  });

  it.each([
    ['without the slash', 'from'],
    ['percent-encoded', '%66rom'],
  ])('takes the key of the source %s', async (_how, source) => {
    expect((await rename('to', { 'x-amz-rename-source': source })).status).toBe(200);
  });

  it('takes a key that begins with a slash after another slash', async () => {
    await calls.call('PUT', '/bucket//slash', { body: 'slash' });
    expect((await rename('to', { 'x-amz-rename-source': '//slash' })).status).toBe(200);
    expect(await get('to')).toBe('slash');
  });

  const past = 'Thu, 01 Dec 1994 16:00:00 GMT';
  const future = 'Thu, 01 Dec 2033 16:00:00 GMT';
  const other = '"00000000000000000000000000000000"';
  it.each([
    ['an absent source', 404, 'NoSuchKey', { 'x-amz-rename-source': '/absent' }],
    ['an empty source', 400, 'InvalidArgument', { 'x-amz-rename-source': '' }],
    ['a source that is only a slash', 400, 'InvalidArgument', { 'x-amz-rename-source': '/' }],
    ['a source with a query', 400, 'InvalidArgument', { 'x-amz-rename-source': '/from?versionId=null' }],
    ['a source with invalid encoding', 400, 'InvalidArgument', { 'x-amz-rename-source': '/%zz' }],
    ['a source with a key that is too long', 400, 'KeyTooLongError', { 'x-amz-rename-source': 'k'.repeat(1_025) }],
    ['its own key', 400, 'InvalidRequest', { 'x-amz-rename-source': '/there' }],
    ['a token of 65 characters', 400, 'InvalidArgument', { 'x-amz-client-token': 'x'.repeat(65) }],
    ['a token with a space', 400, 'InvalidArgument', { 'x-amz-client-token': 'x y' }],
    ['another ETag of the source', 412, 'PreconditionFailed', { 'x-amz-rename-source-if-match': other }],
    ['any ETag of the source', 412, 'PreconditionFailed', { 'x-amz-rename-source-if-none-match': '*' }],
    ['an unchanged source', 412, 'PreconditionFailed', { 'x-amz-rename-source-if-modified-since': future }],
    ['a changed source', 412, 'PreconditionFailed', { 'x-amz-rename-source-if-unmodified-since': past }],
    ['another ETag of the target', 412, 'PreconditionFailed', { 'if-match': other }],
    ['an existing target', 412, 'PreconditionFailed', { 'if-none-match': '*' }],
    ['an ETag that the target must not have', 501, 'NotImplemented', { 'if-none-match': other }],
    ['an unchanged target', 412, 'PreconditionFailed', { 'if-modified-since': future }],
    ['a changed target', 412, 'PreconditionFailed', { 'if-unmodified-since': past }],
    ['a header of another operation', 501, 'NotImplemented', { 'x-amz-tagging': 'a=b' }],
    ['an encryption', 400, 'InvalidArgument', { 'x-amz-server-side-encryption': 'AES256' }],
  ])('refuses %s', async (_what, status, expected, headers) => {
    await calls.call('PUT', '/bucket/there', { body: 'there' });
    expect(await rename('there', headers as Record<string, string>)).toMatchObject({ status, code: expected });
    expect([await get('from'), await get('there')]).toEqual(['content', 'there']);
  });

  it.each([
    ['If-Match', 404, 'NoSuchKey', { 'if-match': '*' }],
    ['If-Modified-Since', 412, 'PreconditionFailed', { 'if-modified-since': past }],
  ])('refuses an absent target with %s', async (_what, status, expected, headers) => {
    expect(await rename('to', headers as Record<string, string>)).toMatchObject({ status, code: expected });
  });

  it('takes conditions that hold', async () => {
    const holding = {
      'x-amz-rename-source-if-match': etag,
      'x-amz-rename-source-if-none-match': other,
      'if-none-match': '*',
      'if-unmodified-since': past,
    };
    expect((await rename('to', holding)).status).toBe(200);
  });

  it('refuses a request without its source', async () => {
    expect(await calls.call('PUT', '/bucket/to?renameObject')).toMatchObject({ status: 400, code: 'InvalidArgument' });
  });

  it.each(['s3:GetObject bucket/from', 's3:DeleteObject bucket/from', 's3:PutObject bucket/to'])(
    'needs %s',
    async (right) => {
      denied = [right];
      expect(await rename('to')).toMatchObject({ status: 403, code: 'AccessDenied' });
      denied = [];
      expect([await get('from'), await code('to')]).toEqual(['content', 'NoSuchKey']);
    },
  );

  it.each(['s3:GetObjectTagging bucket/from', 's3:PutObjectTagging bucket/to'])('needs %s for tags', async (right) => {
    denied = [right];
    expect(await rename('to')).toMatchObject({ status: 403, code: 'AccessDenied' });
    await calls.call('DELETE', '/bucket/from?tagging');
    expect((await rename('to')).status).toBe(200);
  });

  it.each(['Enabled', 'Suspended'])('refuses a bucket with versioning %s', async (status) => {
    const body = `<VersioningConfiguration><Status>${status}</Status></VersioningConfiguration>`;
    await calls.call('PUT', '/bucket?versioning', { body });
    expect(await rename('to')).toMatchObject({ status: 409, code: 'InvalidBucketState' });
    expect(await get('from')).toBe('content');
  });
});

describe('a client token', () => {
  const token = { 'x-amz-client-token': 'one' };

  it('makes a repetition succeed without a further change', async () => {
    expect((await rename('to', token)).status).toBe(200);
    await calls.call('PUT', '/bucket/from', { body: 'later' });
    expect((await rename('to', token)).status).toBe(200);
    expect([await get('from'), await get('to')]).toEqual(['later', 'content']);
  });

  it('is refused with other parameters', async () => {
    await rename('to', token);
    expect(await rename('to', { ...token, 'x-amz-rename-source': '/another' })).toMatchObject({
      status: 400,
      code: 'IdempotencyParameterMismatch',
    });
  });

  it('does not follow the object to a third key', async () => {
    await rename('to', token);
    await rename('third', { 'x-amz-rename-source': '/to' });
    await calls.call('PUT', '/bucket/from', { body: 'later' });
    expect((await rename('third', token)).status).toBe(200);
    expect(await get('third')).toBe('later');
  });
});

async function findings(): Promise<unknown[]> {
  const { records, blobs, keys } = calls;
  return Array.fromAsync(verifyStores({ records, blobs, keys, now: Date.now(), bodies: true, graceMs: 0 }));
}

describe('the body of a renamed object', () => {
  const encrypted = [{}, { 'x-amz-server-side-encryption': 'AES256' }, { 'x-amz-server-side-encryption': 'aws:kms' }];
  const bodies = [0, 10, 200_000];
  const cases = encrypted.flatMap((headers) => bodies.map((size) => ({ headers, size })));

  it.each(cases)('stays readable with $headers and $size bytes', async ({ headers, size }) => {
    const bytes = randomBody(size);
    await calls.call('PUT', '/bucket/from', { body: bytes, headers: headers as Record<string, string> });
    expect((await rename('to')).status).toBe(200);
    const { info, read } = await calls.layer.getObject('bucket', 'to');
    expect((await readAll(read({ start: 0, end: info.size }))).equals(bytes)).toBe(true);
    expect(await findings()).toEqual([]);
  });

  it('of several parts stays readable', async () => {
    const { body } = await calls.call('POST', '/bucket/from?uploads');
    const uploadId = /<UploadId>(.*)<\/UploadId>/.exec(body)?.[1] ?? '';
    const part = await calls.call('PUT', `/bucket/from?partNumber=1&uploadId=${uploadId}`, { body: 'part' });
    const listed = `<Part><PartNumber>1</PartNumber><ETag>${part.headers['etag']}</ETag></Part>`;
    const complete = `<CompleteMultipartUpload>${listed}</CompleteMultipartUpload>`;
    await calls.call('POST', `/bucket/from?uploadId=${uploadId}`, { body: complete });
    await calls.call('PUT', '/bucket/to', { body: randomBody(5_000) });
    expect((await rename('to')).status).toBe(200);
    expect(await get('to')).toBe('part');
    expect(await findings()).toEqual([]);
  });

  it('is refused under the key of a client', async () => {
    const key = Buffer.alloc(32, 1);
    const sse = 'x-amz-server-side-encryption-customer';
    const headers = {
      [`${sse}-algorithm`]: 'AES256',
      [`${sse}-key`]: key.toString('base64'),
      [`${sse}-key-md5`]: createHash('md5').update(key).digest('base64'),
    };
    await calls.call('PUT', '/bucket/from', { body: 'content', headers });
    expect(await rename('to')).toMatchObject({ status: 400, code: 'InvalidRequest' });
  });
});

it('counts the bytes of what it replaces against the quota of the bucket', async () => {
  await calls.call('PUT', '/bucket/to', { body: randomBody(93) });
  await calls.layer.putBucketQuota('bucket', 100);
  expect(await calls.layer.getBucketQuota('bucket')).toMatchObject({ used: 100 });
  expect((await rename('to')).status).toBe(200);
  expect(await calls.layer.getBucketQuota('bucket')).toMatchObject({ used: 7 });
});

it('gives an object to one of two renames that run at once', async () => {
  const replies = await Promise.all([rename('to'), rename('another')]);
  expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404]);
  const found = [await code('to'), await code('another'), await code('from')];
  expect(found.filter((one) => one === undefined)).toHaveLength(1);
});
