import { beforeEach, describe, expect, it } from 'vitest';
import { accountId } from '../auth/principal.ts';
import { ownerId } from './owner.ts';
import { testCalls, type CallOptions, type TestCalls } from '../../test/support/s3-api/s3-calls.ts';

const sse = 'x-amz-server-side-encryption';
let calls: TestCalls;
beforeEach(async () => {
  calls = await testCalls();
  await calls.call('PUT', '/bucket/key', { body: 'content' });
});

const code = async (method: string, target: string, more: CallOptions = {}) =>
  (await calls.call(method, target, more)).code;
const body = async () => (await calls.call('GET', '/bucket/key')).body;

describe('a guard of another operation is refused, and nothing is done', () => {
  it.each([
    ['GET', '/bucket/key', sse, 'AES256', 'InvalidArgument'],
    ['HEAD', '/bucket/key', sse, 'aws:kms', 'InvalidArgument'],
    ['GET', '/bucket/key', `${sse}-aws-kms-key-id`, 'a', 'InvalidArgument'],
    ['GET', '/bucket', `${sse}-customer-algorithm`, 'AES256', 'InvalidArgument'],
    ['DELETE', '/bucket/key', sse, 'AES256', 'InvalidArgument'],
    ['DELETE', '/bucket/key', 'if-unmodified-since', 'Thu, 01 Dec 1994 16:00:00 GMT', 'NotImplemented'],
    ['DELETE', '/bucket/key', 'if-none-match', '*', 'NotImplemented'],
    ['DELETE', '/bucket/key', 'x-amz-if-match-initiated-time', 'a', 'NotImplemented'],
    ['PUT', '/bucket/key', 'if-unmodified-since', 'Thu, 01 Dec 1994 16:00:00 GMT', 'NotImplemented'],
    ['PUT', '/bucket/key', 'x-amz-copy-source-if-match', 'a', 'NotImplemented'],
    ['PUT', '/bucket/key', 'x-amz-mp-object-size', '1', 'NotImplemented'],
    ['PUT', '/bucket?tagging', 'x-amz-object-lock-mode', 'COMPLIANCE', 'NotImplemented'],
    ['DELETE', '/bucket/key', 'x-amz-checksum-crc32', 'AAAAAA==', 'InvalidRequest'],
    ['GET', '/bucket', 'if-match', '"a"', 'NotImplemented'],
    ['GET', '/bucket/key', 'x-minio-extract', 'true', 'NotImplemented'],
    ['PUT', '/bucket/key', 'x-minio-source-mtime', 'a', 'NotImplemented'],
  ])('%s %s with %s: %s is %s', async (method, target, name, value, expected) => {
    const refused = await calls.call(method, target, {
      headers: { [name]: value },
      body: method === 'PUT' ? 'new' : '',
    });
    expect([refused.code, refused.body]).toEqual([expected, expect.stringContaining(name)]);
    expect(await body()).toBe('content');
  });

  it.each(['x-amz-checksum-blake3', 'x-amz-object-lock-forever', 'x-amz-grant-delete', 'x-amz-if-match-colour'])(
    'so is %s, which no model has yet',
    async (name) => {
      expect(await code('PUT', '/bucket/key', { headers: { [name]: 'a' }, body: 'new' })).toBe('NotImplemented');
      expect(await body()).toBe('content');
    },
  );

  it.each([
    'x-amz-user-agent',
    'x-amz-colour',
    'x-minio-colour',
    'x-forwarded-for',
    'x-amz-checksum-mode',
    'x-amz-date',
  ])('but %s is no guard', async (name) => {
    expect(await code('PUT', '/bucket/key', { headers: { [name]: 'a' }, body: 'new' })).toBeUndefined();
  });

  it('and so is not the condition of a cache, which a read may answer with the whole', async () => {
    expect(await code('GET', '/bucket', { headers: { 'if-none-match': '"a"' } })).toBeUndefined();
  });
});

describe('parameters of a part or a version', () => {
  it.each([
    ['PUT', '/bucket/key?partNumber=1'],
    ['PUT', '/bucket/key?partNumber=1&x-id=UploadPart'],
    ['PUT', '/bucket/key?uploadId=0123456789abcdef0123456789abcdef'],
    ['DELETE', '/bucket/key?partNumber=1'],
    ['PUT', '/bucket/key?versionId=null'],
    ['POST', '/bucket/key?uploads&versionId=null'],
    ['GET', '/bucket?versionId=null'],
  ])('are not dropped: %s %s', async (method, target) => {
    expect(await calls.call(method, target, { body: method === 'PUT' ? 'new' : '' })).toMatchObject({
      status: 400,
      code: 'InvalidArgument',
    });
    expect(await body()).toBe('content');
  });
});

describe('the owner that a request expects', () => {
  it.each([ownerId, accountId])('may be named %s', async (owner) => {
    const headers = { 'x-amz-expected-bucket-owner': owner, 'x-amz-source-expected-bucket-owner': owner };
    const copy = { ...headers, 'x-amz-copy-source': '/bucket/key' };
    expect(await code('PUT', '/bucket/copy', { headers: copy })).toBeUndefined();
  });

  it.each(['x-amz-expected-bucket-owner', 'x-amz-source-expected-bucket-owner'])('is compared: %s', async (name) => {
    const headers = { [name]: '111122223333', 'x-amz-copy-source': '/bucket/key' };
    expect(await calls.call('PUT', '/bucket/copy', { headers })).toMatchObject({ status: 403, code: 'AccessDenied' });
  });
});

describe('x-amz-sdk-checksum-algorithm', () => {
  it.each([
    [{}, /no corresponding/],
    [{ 'x-amz-checksum-crc32c': 'AAAAAA==' }, /algorithm header is invalid/],
  ])('is refused with %o', async (headers, message) => {
    const more = { headers: { 'x-amz-sdk-checksum-algorithm': 'CRC32', ...headers }, body: 'new' };
    for (const target of ['/bucket/key', '/bucket?tagging']) {
      const refused = await calls.call('PUT', target, more);
      expect([refused.code, refused.body]).toEqual(['InvalidRequest', expect.stringMatching(message)]);
    }
    expect(await body()).toBe('content');
  });
});

describe('the encryption of an upload, repeated when it is completed', () => {
  const kms = { [sse]: 'aws:kms', [`${sse}-aws-kms-key-id`]: 'default-key' };

  it('must be the same', async () => {
    expect(await completed({ [sse]: 'AES256' }, { [sse]: 'AES256' })).toBeUndefined();
    expect(await completed(kms, kms)).toBeUndefined();
    expect(await completed({}, { [sse]: 'AES256' })).toBe('InvalidArgument');
    expect(await completed(kms, { [sse]: 'AES256' })).toBe('InvalidArgument');
    expect(await completed(kms, { ...kms, [`${sse}-aws-kms-key-id`]: 'another' })).toBe('InvalidArgument');
  });
});

it('CreateBucket refuses what it would drop of its body', async () => {
  const document =
    '<CreateBucketConfiguration><Tags><Tag><Key>a</Key><Value>b</Value></Tag></Tags></CreateBucketConfiguration>';
  expect(await calls.call('PUT', '/tagged', { body: document })).toMatchObject({
    code: 'NotImplemented',
    body: expect.stringContaining('Tags') as string,
  });
  expect(await code('HEAD', '/tagged')).toBe('NoSuchBucket');
});

it('a copy keeps the storage class that it asks for, and may change that alone', async () => {
  const storage = async (key: string) => (await calls.call('HEAD', `/bucket/${key}`)).headers['x-amz-storage-class'];
  const copy = { 'x-amz-copy-source': '/bucket/key' };
  await calls.call('PUT', '/bucket/key', { headers: { ...copy, 'x-amz-storage-class': 'REDUCED_REDUNDANCY' } });
  expect(await storage('key')).toBe('REDUCED_REDUNDANCY');
  await calls.call('PUT', '/bucket/copy', { headers: { ...copy, 'x-amz-storage-class': 'STANDARD' } });
  expect(await storage('copy')).toBeUndefined();
});

async function completed(begun: Record<string, string>, repeated: Record<string, string>) {
  const upload = await calls.call('POST', '/bucket/up?uploads', { headers: begun });
  const uploadId = /<UploadId>(.*)<\/UploadId>/.exec(upload.body)?.[1] ?? '';
  const { headers } = await calls.call('PUT', `/bucket/up?partNumber=1&uploadId=${uploadId}`, { body: 'part' });
  const part = `<Part><PartNumber>1</PartNumber><ETag>${headers['etag'] ?? ''}</ETag></Part>`;
  const document = `<CompleteMultipartUpload>${part}</CompleteMultipartUpload>`;
  return code('POST', `/bucket/up?uploadId=${uploadId}`, { headers: repeated, body: document });
}
