import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { put } from '../../test/support/objects/test-layer.ts';
import { testCalls, type CallOptions, type TestCalls } from '../../test/support/s3-api/s3-calls.ts';

let calls: TestCalls;
const ids = { version: '', marker: '', upload: '' };
const etag = createHash('md5').update('small').digest('hex');

beforeAll(async () => {
  calls = await testCalls();
  const { layer } = calls;
  await layer.putObject(put('bucket', 'key', 'content'));
  await layer.createBucket('versioned', { location: '', objectLock: true });
  await layer.putObject(put('versioned', 'key', 'content'));
  ids.marker = (await layer.deleteObject('versioned', 'key')).versionId ?? '';
  ids.upload = (await layer.createMultipartUpload({ bucket: 'bucket', key: 'up', headers: { metadata: {} } })).uploadId;
  for (const partNumber of [1, 2]) {
    await layer.putPart({ ...put('bucket', 'up', 'small'), uploadId: ids.upload, partNumber });
  }
});

const filled = (text: string) => text.replace('MARKER', ids.marker).replace('UPLOAD', ids.upload);
const md5 = (text: string) => createHash('md5').update(text).digest('base64');
const complete = (...numbers: readonly number[]) => {
  const parts = numbers.map((number) => `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag></Part>`);
  return { body: `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>` };
};
const headers = (given: Readonly<Record<string, string>>): CallOptions => ({ headers: given, body: 'x' });
const absent = 'f'.repeat(32);
const tagged = (key: string, value: string) => ({
  body: `<Tagging><TagSet><Tag><Key>${key}</Key><Value>${value}</Value></Tag></TagSet></Tagging>`,
});

/** Request, what is sent, code, elements beside those of every error. */
type Row = readonly [request: string, more: CallOptions, code: string, details: Readonly<Record<string, string>>];

const ofBuckets: readonly Row[] = [
  ['GET /absent', {}, 'NoSuchBucket', { BucketName: 'absent' }],
  ['GET /No_Bucket', {}, 'InvalidBucketName', { BucketName: 'No_Bucket' }],
  ['PUT /bucket', {}, 'BucketAlreadyOwnedByYou', { BucketName: 'bucket' }],
  ['DELETE /bucket', {}, 'BucketNotEmpty', { BucketName: 'bucket' }],
  ['GET /bucket?policy', {}, 'NoSuchBucketPolicy', { BucketName: 'bucket' }],
  ['GET /bucket?policyStatus', {}, 'NoSuchBucketPolicy', { BucketName: 'bucket' }],
  ['GET /bucket?tagging', {}, 'NoSuchTagSet', { BucketName: 'bucket' }],
  ['GET /bucket?cors', {}, 'NoSuchCORSConfiguration', { BucketName: 'bucket' }],
  ['GET /bucket?lifecycle', {}, 'NoSuchLifecycleConfiguration', { BucketName: 'bucket' }],
  ['GET /bucket?website', {}, 'NoSuchWebsiteConfiguration', { BucketName: 'bucket' }],
  ['GET /bucket?replication', {}, 'ReplicationConfigurationNotFoundError', { BucketName: 'bucket' }],
  ['GET /bucket?encryption', {}, 'ServerSideEncryptionConfigurationNotFoundError', { BucketName: 'bucket' }],
  ['GET /bucket?object-lock', {}, 'ObjectLockConfigurationNotFoundError', { BucketName: 'bucket' }],
  ['GET /bucket?publicAccessBlock', {}, 'NoSuchPublicAccessBlockConfiguration', { BucketName: 'bucket' }],
  ['PATCH /bucket', {}, 'MethodNotAllowed', { Method: 'PATCH', ResourceType: 'BUCKET' }],
  ['GET /bucket?max-keys=x', {}, 'InvalidArgument', { ArgumentName: 'max-keys', ArgumentValue: 'x' }],
  ['GET /bucket?versionId=x', {}, 'InvalidArgument', { ArgumentName: 'versionId', ArgumentValue: 'x' }],
  ['PUT /bucket?tagging', tagged('', 'v'), 'InvalidTag', { TagKey: '' }],
];

const ofObjects: readonly Row[] = [
  ['GET /bucket/absent', {}, 'NoSuchKey', { Key: 'absent' }],
  ['PUT /bucket/absent', headers({ 'if-match': '"0"' }), 'NoSuchKey', { Key: 'absent' }],
  ['DELETE /bucket/absent', headers({ 'if-match': '"0"' }), 'NoSuchKey', { Key: 'absent' }],
  [`GET /versioned/key?versionId=${absent}`, {}, 'NoSuchVersion', { Key: 'key', VersionId: absent }],
  ['GET /versioned/key?versionId=x', {}, 'InvalidArgument', { ArgumentName: 'versionId', ArgumentValue: 'x' }],
  ['GET /versioned/key?versionId=MARKER', {}, 'MethodNotAllowed', { Method: 'GET', ResourceType: 'DeleteMarker' }],
  ['POST /bucket/key', {}, 'MethodNotAllowed', { Method: 'POST', ResourceType: 'OBJECT' }],
  [
    'GET /bucket/key',
    { headers: { range: 'bytes=99-' } },
    'InvalidRange',
    { RangeRequested: 'bytes=99-', ActualObjectSize: '7' },
  ],
  ['GET /bucket/key?partNumber=2', {}, 'InvalidPartNumber', { PartNumberRequested: '2', ActualPartCount: '1' }],
  ['GET /bucket/key', { headers: { 'if-match': '"0"' } }, 'PreconditionFailed', { Condition: 'If-Match' }],
  [
    'GET /bucket/key',
    { headers: { 'if-unmodified-since': 'Thu, 01 Dec 1994 16:00:00 GMT' } },
    'PreconditionFailed',
    { Condition: 'If-Unmodified-Since' },
  ],
  ['PUT /bucket/key', headers({ 'if-none-match': '*' }), 'PreconditionFailed', { Condition: 'If-None-Match' }],
  [
    'PUT /bucket/copy',
    { headers: { 'x-amz-copy-source': '/bucket/key', 'x-amz-copy-source-if-match': '"0"' } },
    'PreconditionFailed',
    { Condition: 'x-amz-copy-source-If-Match' },
  ],
  [
    'PUT /bucket/new',
    headers({ 'content-md5': md5('y') }),
    'BadDigest',
    { ExpectedDigest: md5('y'), CalculatedDigest: md5('x') },
  ],
  ['PUT /bucket/new', headers({ 'content-md5': 'AAAA' }), 'InvalidDigest', { 'Content-MD5': 'AAAA' }],
  [
    'PUT /bucket/new',
    headers({ 'x-amz-storage-class': 'COLD' }),
    'InvalidStorageClass',
    { StorageClassRequested: 'COLD' },
  ],
  [
    'PUT /bucket/new',
    headers({ 'x-amz-meta-a': 'm'.repeat(2_049) }),
    'MetadataTooLarge',
    { Size: '2050', MaxSizeAllowed: '2048' },
  ],
  ['PUT /bucket/new', headers({ 'x-amz-mfa': 'a b' }), 'NotImplemented', { Header: 'x-amz-mfa' }],
  ['PUT /bucket?tagging', headers({ 'if-none-match': '"0"' }), 'NotImplemented', { Header: 'If-None-Match' }],
  [`PUT /bucket/${'k'.repeat(1_025)}`, {}, 'KeyTooLongError', { Size: '1025', MaxSizeAllowed: '1024' }],
  ['PUT /bucket/key?tagging', tagged('a!', 'v'), 'InvalidTag', { TagKey: 'a!' }],
  ['PUT /bucket/key?tagging', tagged('a', 'v!'), 'InvalidTag', { TagKey: 'a', TagValue: 'v!' }],
  [
    'PUT /bucket/new',
    headers({ 'x-amz-content-sha256': '0'.repeat(64), 'content-length': String(6 * 1024 ** 4) }),
    'EntityTooLarge',
    { ProposedSize: String(6 * 1024 ** 4), MaxSizeAllowed: String(5 * 1024 ** 4) },
  ],
];

const ofUploads: readonly Row[] = [
  [`GET /bucket/up?uploadId=${absent}`, {}, 'NoSuchUpload', { UploadId: absent }],
  ['DELETE /bucket/up?uploadId=', {}, 'NoSuchUpload', { UploadId: '' }],
  [
    'PUT /bucket/up?uploadId=UPLOAD&partNumber=0',
    {},
    'InvalidArgument',
    { ArgumentName: 'partNumber', ArgumentValue: '0' },
  ],
  ['POST /bucket/up?uploadId=UPLOAD', complete(2, 1), 'InvalidPartOrder', { UploadId: 'UPLOAD' }],
  ['POST /bucket/up?uploadId=UPLOAD', complete(3), 'InvalidPart', { UploadId: 'UPLOAD', PartNumber: '3', ETag: etag }],
  [
    'POST /bucket/up?uploadId=UPLOAD',
    complete(1, 2),
    'EntityTooSmall',
    { ProposedSize: '5', MinSizeAllowed: '5242880', PartNumber: '1', ETag: etag },
  ],
];

describe('an empty version id', () => {
  const attributes = { headers: { 'x-amz-object-attributes': 'ETag' } };

  it.each<[string, CallOptions]>([
    ['GET /versioned/key?', {}],
    ['DELETE /versioned/key?', {}],
    ['GET /versioned/key?attributes&', attributes],
    ...['acl', 'tagging', 'retention', 'legal-hold'].flatMap((name): [string, CallOptions][] => [
      [`GET /versioned/key?${name}&`, {}],
      [`PUT /versioned/key?${name}&`, { body: '<not XML' }],
    ]),
    ['DELETE /versioned/key?tagging&', {}],
    ['POST /versioned/key?restore&', {}],
    ['POST /versioned/key?select&select-type=2&', { body: '<not XML' }],
  ])('is refused by %s', async (request, more) => {
    const [method = '', target = ''] = request.split(' ');
    const reply = await calls.call(method, `${target}versionId=`, more);
    expect(reply.refusal).toContain(
      '<Code>InvalidArgument</Code><Message>Version id cannot be the empty string</Message>' +
        '<ArgumentName>versionId</ArgumentName><ArgumentValue/>',
    );
  });

  it.each(['PUT /versioned/new?', 'POST /versioned/new?uploads&', 'GET /versioned?versioning&', 'GET /versioned?'])(
    'is no parameter of %s',
    async (request) => {
      const [method = '', target = ''] = request.split(' ');
      const reply = await calls.call(method, `${target}versionId=`);
      expect([reply.code, reply.body]).toEqual(['InvalidArgument', 'This operation does not accept a version-id.']);
    },
  );
});

describe('an error', () => {
  it.each([...ofBuckets, ...ofObjects, ...ofUploads])(
    'of %s with %o is %s with %o',
    async (request, more, code, details) => {
      const [method = '', target = ''] = filled(request).split(' ');
      const reply = await calls.call(method, target, more);
      expect(reply.code).toBe(code);
      const xml = reply.refusal === '' ? reply.body : reply.refusal;
      for (const [name, value] of Object.entries(details)) {
        expect(xml).toContain(value === '' ? `<${name}/>` : `<${name}>${filled(value)}</${name}>`);
      }
      // Every error ends so.
      expect(xml).toMatch(/<RequestId>R<\/RequestId><HostId>coffer<\/HostId><\/Error>$/);
    },
  );
});
