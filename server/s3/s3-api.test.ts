import { beforeEach, describe, expect, it } from 'vitest';
import { accountId, type AccessRequest } from '../auth/principal.ts';
import { ownerId } from '../../protocol/s3/acl.ts';
import { testCalls, type CallOptions, type TestCalls } from '../../test/support/s3-api/s3-calls.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { IncomingRequest } from '../http/contract/request.ts';
import { createObjectLayer } from '../objects/objects.ts';
import type { ObjectLayer } from '../objects/contract/object-layer.ts';
import { noKeySource } from '../encryption/key-source.ts';
import { MemoryBlobStore } from '../store/memory/blob-store.ts';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import { CrossOrigin } from './cross-origin.ts';
import { createS3Api } from './s3-api.ts';
import { Readable } from 'node:stream';
import { bodyFrom } from '../objects/contract/body-source.ts';

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
    const rejected = await calls.call(method, target, {
      headers: { [name]: value },
      body: method === 'PUT' ? 'new' : '',
    });
    expect([rejected.code, rejected.body]).toEqual([expected, expect.stringContaining(name)]);
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
      const rejected = await calls.call('PUT', target, more);
      expect([rejected.code, rejected.body]).toEqual(['InvalidRequest', expect.stringMatching(message)]);
    }
    expect(await body()).toBe('content');
  });
});

describe('the encryption of an upload, repeated with its parts', () => {
  const keyId = `${sse}-aws-kms-key-id`;

  it.each([
    [{ [sse]: 'AES256' }, { [sse]: 'AES256' }, undefined],
    [{ [sse]: 'aws:kms', [keyId]: 'default-key' }, { [sse]: 'aws:kms', [keyId]: 'default-key' }, undefined],
    [{ [sse]: 'AES256' }, {}, undefined],
    [{}, { [sse]: 'AES256' }, 'InvalidArgument'],
    [{ [sse]: 'aws:kms', [keyId]: 'default-key' }, { [sse]: 'AES256' }, 'InvalidArgument'],
    [{}, { [keyId]: 'default-key' }, 'InvalidArgument'],
  ])('%o, with %o is %s', async (created, repeated, expected) => {
    const { body: xml } = await calls.call('POST', '/bucket/upload?uploads', { headers: created });
    const part = `/bucket/upload?partNumber=1&uploadId=${/<UploadId>(.*)<\/UploadId>/.exec(xml)?.[1] ?? ''}`;
    expect(await code('PUT', part, { headers: repeated, body: 'part' })).toBe(expected);
    const copy = { ...repeated, 'x-amz-copy-source': '/bucket/key' };
    expect(await code('PUT', part, { headers: copy })).toBe(expected);
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

const newBucketTags = (...keys: string[]) =>
  `<CreateBucketConfiguration><Tags>${keys.map((key) => `<Tag><Key>${key}</Key><Value>b</Value></Tag>`).join('')}</Tags></CreateBucketConfiguration>`;

describe('the body of CreateBucket', () => {
  const many = newBucketTags(...Array.from({ length: 51 }, (_, index) => `key-${index}`));

  it('gives the bucket tags, and the answer names its ARN', async () => {
    const created = await calls.call('PUT', '/tagged', { body: newBucketTags('a') });
    expect(created).toMatchObject({ status: 200, headers: { 'x-amz-bucket-arn': 'arn:aws:s3:::tagged' } });
    expect((await calls.call('GET', '/tagged?tagging')).body).toContain('<Tag><Key>a</Key><Value>b</Value></Tag>');
  });

  it.each([
    ['a tag twice', newBucketTags('a', 'a'), 'InvalidTag'],
    ['a tag of AWS', newBucketTags('aws:a'), 'InvalidTag'],
    ['too many tags', many, 'BadRequest'],
    ['what would be dropped', '<CreateBucketConfiguration><Bucket/></CreateBucketConfiguration>', 'NotImplemented'],
  ])('is refused with %s', async (_, document, expected) => {
    expect(await code('PUT', '/tagged', { body: document })).toBe(expected);
    expect(await code('HEAD', '/tagged')).toBe('NoSuchBucket');
  });
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

/** An API whose caller may do what `allowed` says, over an object layer in memory. */
function api(allowed: (request: AccessRequest) => boolean) {
  const objects: ObjectLayer = createObjectLayer({
    records: new MemoryRecordStore(),
    blobs: new MemoryBlobStore(),
    keys: noKeySource,
  });
  const asked: AccessRequest[] = [];
  const handle = createS3Api({
    objects,
    region: 'us-east-1',
    clock: () => new Date('2026-01-02T03:04:05Z'),
    crossOrigin: new CrossOrigin(objects, []),
    authenticateForm: () => Promise.resolve(undefined),
    authenticate: (request) =>
      Promise.resolve({
        principal: { kind: 'root', accessKey: 'someone' },
        body: request.body,
        size: Number(request.headers['content-length'] ?? 0),
      }),
    access: {
      credentials: () => Promise.resolve(undefined),
      authorize(request) {
        asked.push(request);
        return Promise.resolve({ kind: allowed(request) ? 'allow' : 'deny', reason: 'the test says so' });
      },
    },
  });
  return { objects, asked, handle };
}

function request(
  method: string,
  target: string,
  more: { headers?: Record<string, string>; body?: string } = {},
): IncomingRequest {
  const [rawPath = '', rawQuery = ''] = target.split('?');
  const body = Buffer.from(more.body ?? '');
  return {
    requestId: 'R',
    method,
    rawPath,
    rawQuery,
    headers: { host: 'test', 'content-length': String(body.length), ...more.headers },
    body: bodyFrom(Readable.from([body])),
    secure: true,
    remoteAddress: '10.0.0.1',
  };
}

async function put(objects: ObjectLayer, bucket: string, key: string): Promise<void> {
  await objects.putObject({
    bucket,
    key,
    size: 1,
    digests: {},
    headers: { metadata: {} },
    body: bodyFrom(Readable.from([Buffer.from('x')])),
  });
}

const only =
  (...actions: readonly string[]) =>
  (asked: AccessRequest) =>
    actions.includes(`${asked.action} ${asked.resource}`);
const text = (answer: { body: { kind: string; bytes?: Buffer } }) => answer.body.bytes?.toString() ?? '';

async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    if (error instanceof S3Error) return error.code;
    throw error;
  }
  return 'none';
}

/** Names of one letter are too short for buckets. */
const long = (path: string) => path.replace(/^\/b(?=[/?]|$)/, '/bucket');

describe('authorization', () => {
  it.each([
    ['GET', '/b/k', 's3:GetObject', 'b/k'],
    ['HEAD', '/b/k', 's3:GetObject', 'b/k'],
    ['PUT', '/b/k', 's3:PutObject', 'b/k'],
    ['DELETE', '/b/a%2Fb', 's3:DeleteObject', 'b/a/b'],
    ['GET', '/b?list-type=2&prefix=p%2F', 's3:ListBucket', 'b'],
    ['HEAD', '/b', 's3:ListBucket', 'b'],
    ['PUT', '/b', 's3:CreateBucket', 'b'],
    ['DELETE', '/b', 's3:DeleteBucket', 'b'],
    ['GET', '/b?location', 's3:GetBucketLocation', 'b'],
    ['GET', '/b?encryption', 's3:GetEncryptionConfiguration', 'b'],
    ['PUT', '/b?encryption', 's3:PutEncryptionConfiguration', 'b'],
    ['DELETE', '/b?encryption', 's3:PutEncryptionConfiguration', 'b'],
    ['GET', '/b?uploads', 's3:ListBucketMultipartUploads', 'b'],
    ['GET', '/b/k?uploadId=u', 's3:ListMultipartUploadParts', 'b/k'],
    ['DELETE', '/b/k?uploadId=u', 's3:AbortMultipartUpload', 'b/k'],
    ['PUT', '/b/k?uploadId=u&partNumber=1', 's3:PutObject', 'b/k'],
    ['POST', '/b/k?uploads', 's3:PutObject', 'b/k'],
    ['POST', '/b/k?uploadId=u', 's3:PutObject', 'b/k'],
  ])('%s %s needs %s', async (method, target, action, resource) => {
    const { asked, handle } = api(() => false);
    expect(await codeOf(handle(request(method, long(target))))).toBe('AccessDenied');
    expect(asked.map((one) => [one.action, one.resource])).toEqual([[action, resource.replace(/^b/, 'bucket')]]);
  });

  it('gives policies the origin and the parameters of the request', async () => {
    const { asked, handle } = api(() => false);
    const headers = { 'user-agent': 'agent', referer: 'http://from', 'x-amz-acl': 'private' };
    await codeOf(handle(request('GET', '/bucket?prefix=p&delimiter=%2F&max-keys=5', { headers })));
    expect(asked[0]?.context).toEqual({
      'aws:SourceIp': ['10.0.0.1'],
      'aws:ResourceAccount': ['000000000000'],
      's3:ResourceAccount': ['000000000000'],
      'aws:SecureTransport': ['true'],
      'aws:CurrentTime': ['2026-01-02T03:04:05.000Z'],
      'aws:EpochTime': ['1767323045'],
      'aws:UserAgent': ['agent'],
      'aws:Referer': ['http://from'],
      's3:prefix': ['p'],
      's3:delimiter': ['/'],
      's3:max-keys': ['5'],
      's3:x-amz-acl': ['private'],
    });
  });

  it('of a copy needs reading the source and writing the target', async () => {
    const copy = request('PUT', '/bucket/k', { headers: { 'x-amz-copy-source': '/other/s' } });
    expect(await codeOf(api(only('s3:PutObject bucket/k')).handle(copy))).toBe('AccessDenied');
    expect(await codeOf(api(only('s3:GetObject other/s')).handle(copy))).toBe('AccessDenied');
  });

  it('of many deletes is decided for each key', async () => {
    const { objects, handle } = api(only('s3:DeleteObject bucket/', 's3:DeleteObject bucket/mine'));
    await objects.createBucket('bucket', { location: 'us-east-1' });
    const body = '<Delete><Object><Key>mine</Key></Object><Object><Key>yours</Key></Object></Delete>';
    const answer = text(await handle(request('POST', '/bucket?delete', { body })));
    expect(answer).toContain('<Deleted><Key>mine</Key></Deleted>');
    expect(answer).toMatch(/<Error><Key>yours<\/Key><Code>AccessDenied<\/Code>/);
  });

  it('does not reveal if a key exists to a caller who may not list', async () => {
    const reader = api(only('s3:GetObject bucket/k'));
    await reader.objects.createBucket('bucket', { location: 'us-east-1' });
    expect(await codeOf(reader.handle(request('GET', '/bucket/k')))).toBe('AccessDenied');
    const lister = api(only('s3:GetObject bucket/k', 's3:ListBucket bucket'));
    await lister.objects.createBucket('bucket', { location: 'us-east-1' });
    expect(await codeOf(lister.handle(request('GET', '/bucket/k')))).toBe('NoSuchKey');
  });
});

async function listed(allowed: (request: AccessRequest) => boolean): Promise<string> {
  const { objects, handle } = api(allowed);
  await objects.createBucket('mine', { location: 'us-east-1' });
  await objects.createBucket('yours', { location: 'us-east-1' });
  return text(await handle(request('GET', '/')));
}

describe('ListBuckets', () => {
  it('shows every bucket to a caller who may list all', async () => {
    expect(await listed(only('s3:ListAllMyBuckets '))).toMatch(/mine.*yours/s);
  });

  it('shows others the buckets that they may list', async () => {
    const shown = await listed(only('s3:ListBucket mine'));
    expect([shown.includes('mine'), shown.includes('yours')]).toEqual([true, false]);
  });

  it('shows them by pages, and of one region', async () => {
    const { objects, handle } = api(() => true);
    for (const name of ['aaa', 'bbb', 'ccc']) await objects.createBucket(name, { location: 'us-east-1' });
    const page = async (query: string) => {
      const shown = text(await handle(request('GET', `/?${query}`)));
      const names = [...shown.matchAll(/<Name>(.*?)<\/Name>/g)].map(([, name]) => name).join(' ');
      return { names, token: /<ContinuationToken>(.*)<\/ContinuationToken>/.exec(shown)?.[1] };
    };
    const first = await page('max-buckets=2');
    expect(first.names).toBe('aaa bbb');
    expect(await page(`max-buckets=2&continuation-token=${first.token}`)).toEqual({ names: 'ccc' });
    expect(await page('max-buckets=3')).toEqual({ names: 'aaa bbb ccc' });
    expect((await page('bucket-region=us-east-1')).names).toBe('aaa bbb ccc');
    expect((await page('bucket-region=eu-central-1')).names).toBe('');
    for (const query of ['max-buckets=-1', 'max-buckets=0', 'max-buckets=10001', 'continuation-token=%00']) {
      expect(await codeOf(handle(request('GET', `/?${query}`)))).toBe('InvalidArgument');
    }
  });

  it('refuses a caller who may list none', async () => {
    expect(await codeOf(listed(() => false))).toBe('AccessDenied');
  });
});

describe('part numbers', () => {
  it('read an object that was put whole as its own part 1', async () => {
    const { objects, handle } = api(() => true);
    await objects.createBucket('bucket', { location: 'us-east-1' });
    await put(objects, 'bucket', 'k');
    expect(await handle(request('HEAD', '/bucket/k?partNumber=1'))).toMatchObject({
      status: 206,
      headers: { 'content-range': 'bytes 0-0/1' },
    });
    expect(await codeOf(handle(request('HEAD', '/bucket/k?partNumber=2')))).toBe('InvalidPartNumber');
    expect(await codeOf(handle(request('GET', '/bucket/k?partNumber=0')))).toBe('InvalidArgument');
  });
});
