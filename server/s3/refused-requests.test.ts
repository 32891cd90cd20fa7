import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { formBody, formHeaders } from '../../test/support/s3-api/post-forms.ts';
import { testCalls, type CallOptions, type Reply, type TestCalls } from '../../test/support/s3-api/s3-calls.ts';
import { put } from '../../test/support/objects/test-layer.ts';
import { routes } from './routes.ts';

/** `bucket` has the object `key` and no versions; `versioned` has versions and object lock; `upload` is under way for `bucket/up`. */
let calls: TestCalls;
let denied: TestCalls;
const ids = { version: '', marker: '', upload: '' };
const absentVersion = '0'.repeat(32);

beforeAll(async () => {
  calls = await testCalls();
  denied = await testCalls({ authorize: () => false });
  const { layer } = calls;
  await layer.putObject(put('bucket', 'key', 'content'));
  await layer.createBucket('versioned', { location: '', objectLock: true });
  ids.version = (await layer.putObject(put('versioned', 'key', 'content'))).versionId ?? '';
  await layer.putObject(put('versioned', 'gone', 'content'));
  ids.marker = (await layer.deleteObject('versioned', 'gone')).versionId ?? '';
  ids.upload = (await layer.createMultipartUpload({ bucket: 'bucket', key: 'up', headers: { metadata: {} } })).uploadId;
  const many = 'many'.padEnd(40, 'x');
  await layer.putPart({ ...put('bucket', 'up', many), uploadId: ids.upload, partNumber: 1 });
  await layer.putPart({ ...put('bucket', 'up', many), uploadId: ids.upload, partNumber: 2 });
});

const filled = (text: string) =>
  text.replace('VERSION', ids.version).replace('MARKER', ids.marker).replace('UPLOAD', ids.upload);

const md5 = (text: string) => createHash('md5').update(text).digest('base64');

/** What every refusal has: the code and the message of S3, the resource and the id of the request. */
function expectRefusal(reply: Reply, status: number, code: string, resource: string): void {
  expect([reply.status, reply.code], reply.refusal || reply.body).toEqual([status, code]);
  expect(reply.headers['content-type']).toBe('application/xml');
  // Some operations begin their answer before they know how they end.
  const xml = reply.refusal === '' ? reply.body : reply.refusal;
  expect(xml).toMatch(
    /^<\?xml version="1\.0" encoding="UTF-8"\?>\s*<Error><Code>\w+<\/Code><Message>[^<]+<\/Message>.*<\/Error>$/s,
  );
  expect(xml).toContain(`<Resource>${resource}</Resource>`);
  expect(xml).toContain('<RequestId>R</RequestId>');
}

const names = routes.map(([method, level, flags, { name }]) => ({ name, method, level, flags }));

/** A request of a row of the routes without a body. */
function plainRequest({ method, level, flags }: (typeof names)[number], bucket: string): [string, string, CallOptions] {
  const words = flags.split(' ');
  const isCopy = words.includes('copy');
  const query = words
    .filter((word) => word !== '' && word !== 'copy')
    .map((word) => ({ 'list-type': 'list-type=2', uploadId: `uploadId=${'a'.repeat(32)}` })[word] ?? word);
  if (words.includes('uploadId') && method === 'PUT') query.push('partNumber=1');
  const path = level === 'object' ? `/${bucket}/key` : `/${bucket}`;
  const headers: Record<string, string> = {
    ...(isCopy && { 'x-amz-copy-source': '/bucket/key' }),
    ...(words.includes('attributes') && { 'x-amz-object-attributes': 'ETag' }),
  };
  return [method, query.length === 0 ? path : `${path}?${query.join('&')}`, { headers }];
}

/** A form has its credentials in the body, and a new bucket has neither owner nor absence: rows below have their rules. */
const ofBuckets = names.filter(
  ({ level, name }) => level !== 'service' && name !== 'PostObject' && name !== 'CreateBucket',
);

describe.each(ofBuckets)('$name, $method $flags', (route) => {
  it('is refused to a caller without permission, whether the bucket exists or not', async () => {
    for (const bucket of ['bucket', 'absent']) {
      const [method, target, more] = plainRequest(route, bucket);
      const reply = await denied.call(method, target, { ...more, body: '<not XML' });
      expectRefusal(reply, 403, 'AccessDenied', target.split('?')[0] ?? '');
      expect(reply.bytesRead).toBe(0);
    }
  });

  it('is refused for a bucket of another owner', async () => {
    const [method, target, { headers }] = plainRequest(route, 'bucket');
    const more = { headers: { ...headers, 'x-amz-expected-bucket-owner': '999999999999' } };
    expectRefusal(await calls.call(method, target, more), 403, 'AccessDenied', target.split('?')[0] ?? '');
  });

  it('is refused for a bucket that is not, and for a name that no bucket can have', async () => {
    for (const bucket of ['absent', 'No_Bucket']) {
      const [method, target, more] = plainRequest(route, bucket);
      const reply = await calls.call(method, target, more);
      // Headers and documents are parsed before the bucket is read.
      if (method !== 'PUT' && method !== 'POST') {
        const [status, code] = bucket === 'absent' ? [404, 'NoSuchBucket'] : [400, 'InvalidBucketName'];
        expectRefusal(reply, status, code, target.split('?')[0] ?? '');
      } else
        expect([
          'NoSuchBucket',
          'InvalidBucketName',
          'MalformedXML',
          'MissingRequestBodyError',
          'MissingSecurityHeader',
          'InvalidArgument',
          'InvalidConfigurationId',
          'EmptyRequestBody',
        ]).toContain(reply.code);
    }
  });
});

/** Operation, request, what is sent, status, code. */
type Row = readonly [operation: string, request: string, more: CallOptions, status: number, code: string];

const long = 'k'.repeat(1_025);
const document = (body: string): CallOptions => ({ body, headers: { 'content-md5': md5(body) } });
const headers = (given: Readonly<Record<string, string>>): CallOptions => ({ headers: given });
const part = (number: number, etag: string) => `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag></Part>`;
const complete = (...parts: readonly string[]): CallOptions => ({
  body: `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`,
});
const ETAG = `"${createHash('md5').update('many'.padEnd(40, 'x')).digest('hex')}"`;
const located = (name: string): CallOptions => ({
  body: `<CreateBucketConfiguration><LocationConstraint>${name}</LocationConstraint></CreateBucketConfiguration>`,
});
const tagging = (...tags: readonly string[]) => document(`<Tagging><TagSet>${tags.join('')}</TagSet></Tagging>`);
const tag = (key: string, value = '') => `<Tag><Key>${key}</Key><Value>${value}</Value></Tag>`;
const form = (fields: Readonly<Record<string, string>>): CallOptions => ({
  body: formBody(fields, { content: 'content' }),
  headers: { ...formHeaders },
});
const later = new Date(Date.now() + 86_400_000).toISOString();

const rows: readonly Row[] = [
  ['ListBuckets', 'GET /?max-buckets=0', {}, 400, 'InvalidArgument'],
  ['ListBuckets', 'GET /?max-buckets=10001', {}, 400, 'InvalidArgument'],
  ['ListBuckets', 'GET /?continuation-token=none', {}, 400, 'InvalidArgument'],
  ['CreateBucket', 'PUT /bucket', {}, 409, 'BucketAlreadyOwnedByYou'],
  ['CreateBucket', 'PUT /ab', {}, 400, 'InvalidBucketName'],
  ['CreateBucket', 'PUT /name--x-s3', {}, 400, 'InvalidBucketName'],
  ['CreateBucket', 'PUT /name--table-s3', {}, 400, 'InvalidBucketName'],
  ['CreateBucket', 'PUT /name.mrap', {}, 400, 'InvalidBucketName'],
  ['CreateBucket', 'PUT /192.168.0.1', {}, 400, 'InvalidBucketName'],
  ['CreateBucket', 'PUT /new-bucket', { body: '<Other/>' }, 400, 'MalformedXML'],
  ['CreateBucket', 'PUT /new-bucket', located('mars-1'), 400, 'InvalidLocationConstraint'],
  [
    'ListObjects',
    'GET /bucket',
    headers({ 'x-amz-expected-bucket-owner': 'me' }),
    400,
    'InvalidBucketOwnerAWSAccountID',
  ],
  [
    'PutBucketTagging',
    'PUT /bucket?tagging',
    tagging(...Array.from({ length: 51 }, (_, at) => tag(`k${at}`))),
    400,
    'BadRequest',
  ],
  ['PutBucketVersioning', 'PUT /bucket?versioning', {}, 400, 'MissingRequestBodyError'],
  ['PutBucketNotificationConfiguration', 'PUT /bucket?notification', {}, 400, 'MissingRequestBodyError'],
  ['PutObjectTagging', 'PUT /bucket/key?tagging', {}, 400, 'MissingRequestBodyError'],
  ['CompleteMultipartUpload', 'POST /bucket/up?uploadId=UPLOAD', {}, 400, 'MalformedXML'],
  [
    'PutBucketAcl',
    'PUT /bucket?acl',
    headers({ 'x-amz-acl': 'private', 'x-amz-grant-read': 'id="none"' }),
    400,
    'InvalidRequest',
  ],
  ['CreateBucket', 'PUT /new-bucket', headers({ 'x-amz-bucket-object-lock-enabled': 'yes' }), 400, 'InvalidArgument'],
  ['DeleteBucket', 'DELETE /bucket', {}, 409, 'BucketNotEmpty'],
  ['DeleteBucket', 'DELETE /versioned', {}, 409, 'BucketNotEmpty'],
  [
    'PostObject',
    'POST /bucket',
    { body: '{}', headers: { 'content-type': 'application/json' } },
    412,
    'PreconditionFailed',
  ],
  [
    'PostObject',
    'POST /bucket',
    { body: 'x', headers: { 'content-type': 'multipart/form-data' } },
    400,
    'MalformedPOSTRequest',
  ],
  ['PostObject', 'POST /bucket', form({}), 400, 'InvalidArgument'],
  ['PostObject', 'POST /absent', form({ key: 'a' }), 404, 'NoSuchBucket'],
  ['GetBucketEncryption', 'GET /bucket?encryption', {}, 404, 'ServerSideEncryptionConfigurationNotFoundError'],
  [
    'PutBucketEncryption',
    'PUT /bucket?encryption',
    document('<ServerSideEncryptionConfiguration/>'),
    400,
    'MalformedXML',
  ],
  [
    'PutBucketEncryption',
    'PUT /bucket?encryption',
    { body: 'x', headers: { 'content-md5': md5('y') } },
    400,
    'BadDigest',
  ],
  ['GetBucketPolicy', 'GET /bucket?policy', {}, 404, 'NoSuchBucketPolicy'],
  ['GetBucketPolicyStatus', 'GET /bucket?policyStatus', {}, 404, 'NoSuchBucketPolicy'],
  ['PutBucketPolicy', 'PUT /bucket?policy', { body: '{' }, 400, 'MalformedPolicy'],
  [
    'PutBucketPolicy',
    'PUT /bucket?policy',
    { body: '{"Version":"2012-10-17","Statement":[]}' },
    400,
    'MalformedPolicy',
  ],
  ['GetBucketTagging', 'GET /bucket?tagging', {}, 404, 'NoSuchTagSet'],
  ['PutBucketTagging', 'PUT /bucket?tagging', document('<Tagging/>'), 400, 'MalformedXML'],
  ['PutBucketTagging', 'PUT /bucket?tagging', tagging(tag('a'), tag('a')), 400, 'InvalidTag'],
  ['PutBucketTagging', 'PUT /bucket?tagging', tagging(tag('aws:a')), 400, 'InvalidTag'],
  ['GetBucketCors', 'GET /bucket?cors', {}, 404, 'NoSuchCORSConfiguration'],
  [
    'PutBucketVersioning',
    'PUT /bucket?versioning',
    document('<VersioningConfiguration><Status>On</Status></VersioningConfiguration>'),
    400,
    'MalformedXML',
  ],
  [
    'PutBucketVersioning',
    'PUT /versioned?versioning',
    document('<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>'),
    409,
    'InvalidBucketState',
  ],
  [
    'PutBucketVersioning',
    'PUT /bucket?versioning',
    {
      body: '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>',
      headers: { 'content-md5': md5('other') },
    },
    400,
    'BadDigest',
  ],
  ['GetObjectLockConfiguration', 'GET /bucket?object-lock', {}, 404, 'ObjectLockConfigurationNotFoundError'],
  [
    'PutObjectLockConfiguration',
    'PUT /bucket?object-lock',
    document('<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>'),
    409,
    'InvalidBucketState',
  ],
  [
    'PutObjectLockConfiguration',
    'PUT /versioned?object-lock',
    document('<ObjectLockConfiguration><ObjectLockEnabled>Disabled</ObjectLockEnabled></ObjectLockConfiguration>'),
    400,
    'MalformedXML',
  ],
  [
    'PutObjectLockConfiguration',
    'PUT /versioned?object-lock',
    document(
      '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Days>1</Days><Years>1</Years></DefaultRetention></Rule></ObjectLockConfiguration>',
    ),
    400,
    'MalformedXML',
  ],
  ['ListObjects', 'GET /bucket?max-keys=-1', {}, 400, 'InvalidArgument'],
  ['ListObjects', 'GET /bucket?max-keys=many', {}, 400, 'InvalidArgument'],
  ['ListObjects', 'GET /bucket?encoding-type=xml', {}, 400, 'InvalidArgument'],
  ['ListObjectsV2', 'GET /bucket?list-type=3', {}, 400, 'InvalidArgument'],
  ['ListObjectsV2', 'GET /bucket?list-type=2&max-keys=-1', {}, 400, 'InvalidArgument'],
  ['ListObjectsV2', 'GET /bucket?list-type=2&continuation-token=', {}, 400, 'InvalidArgument'],
  ['ListObjectVersions', 'GET /bucket?versions&max-keys=x', {}, 400, 'InvalidArgument'],
  ['ListObjectVersions', 'GET /bucket?versions&version-id-marker=VERSION', {}, 400, 'InvalidArgument'],
  ['ListObjectVersions', 'GET /bucket?versions&key-marker=a&version-id-marker=x', {}, 400, 'InvalidArgument'],
  ['ListObjectVersions', 'GET /bucket?versions&encoding-type=base64', {}, 400, 'InvalidArgument'],
  ['ListMultipartUploads', 'GET /bucket?uploads&max-uploads=-1', {}, 400, 'InvalidArgument'],
  ['ListMultipartUploads', 'GET /bucket?uploads&max-uploads=x', {}, 400, 'InvalidArgument'],
  ['ListMultipartUploads', 'GET /bucket?uploads&encoding-type=x', {}, 400, 'InvalidArgument'],
  ['DeleteObjects', 'POST /bucket?delete', document('<Delete/>'), 400, 'MalformedXML'],
  ['DeleteObjects', 'POST /bucket?delete', document('<Delete><Object/></Delete>'), 400, 'MalformedXML'],
  [
    'DeleteObjects',
    'POST /bucket?delete',
    { body: '<Delete><Object><Key>key</Key></Object></Delete>', headers: { 'content-md5': 'x' } },
    400,
    'InvalidDigest',
  ],
  ['ListenNotification', 'GET /?events=s3:Nothing', {}, 400, 'InvalidArgument'],
  ['ListenNotification', 'GET /?events=s3:ObjectCreated:*&ping=0', {}, 400, 'InvalidArgument'],
  ['ListenNotification', 'GET /?events=s3:ObjectCreated:*&prefix=a&prefix=b', {}, 400, 'InvalidArgument'],
  ['GetBucketLifecycleConfiguration', 'GET /bucket?lifecycle', {}, 404, 'NoSuchLifecycleConfiguration'],
  ['GetPublicAccessBlock', 'GET /bucket?publicAccessBlock', {}, 404, 'NoSuchPublicAccessBlockConfiguration'],
  ['PutPublicAccessBlock', 'PUT /bucket?publicAccessBlock', document('<Other/>'), 400, 'MalformedXML'],
  ['GetBucketReplication', 'GET /bucket?replication', {}, 404, 'ReplicationConfigurationNotFoundError'],
  ['PutBucketReplication', 'PUT /bucket?replication', document('<Other/>'), 400, 'MalformedXML'],
  ['DeleteBucketReplication', 'DELETE /bucket?replication', {}, 501, 'NotImplemented'],
  ['GetBucketReplicationMetrics', 'GET /bucket?replication-metrics', {}, 501, 'NotImplemented'],
  ['ResetBucketReplicationStart', 'PUT /bucket?replication-reset&older-than=soon', {}, 400, 'InvalidArgument'],
  ['ResetBucketReplicationCancel', 'PUT /bucket?replication-reset-cancel', {}, 501, 'NotImplemented'],
  ['ResetBucketReplicationStatus', 'GET /bucket?replication-reset-status', {}, 501, 'NotImplemented'],
  ['PutObject', 'PUT /bucket/key', headers({ 'x-minio-source-mtime': '2026-01-01T00:00:00Z' }), 501, 'NotImplemented'],
  [
    'PutObject',
    'PUT /versioned/key',
    headers({ 'x-minio-source-replication-request': 'true' }),
    400,
    'InvalidArgument',
  ],
  ['GetBucketWebsite', 'GET /bucket?website', {}, 404, 'NoSuchWebsiteConfiguration'],
  ['GetObject', 'GET /bucket/absent', {}, 404, 'NoSuchKey'],
  ['GetObject', 'GET /versioned/gone', {}, 404, 'NoSuchKey'],
  ['GetObject', 'GET /versioned/gone?versionId=MARKER', {}, 405, 'MethodNotAllowed'],
  ['GetObject', `GET /versioned/key?versionId=${absentVersion}`, {}, 404, 'NoSuchVersion'],
  ['GetObject', 'GET /versioned/key?versionId=', {}, 400, 'InvalidArgument'],
  ['GetObject', 'GET /versioned/key?versionId=none', {}, 400, 'InvalidArgument'],
  ['GetObject', 'GET /bucket/key', headers({ range: 'bytes=100-' }), 416, 'InvalidRange'],
  ['GetObject', 'GET /bucket/key', headers({ 'if-match': '"0"' }), 412, 'PreconditionFailed'],
  ['GetObject', 'GET /bucket/key?partNumber=0', {}, 400, 'InvalidArgument'],
  ['GetObject', 'GET /bucket/key?partNumber=2', {}, 416, 'InvalidPartNumber'],
  ['GetObject', 'GET /bucket/key?partNumber=1', headers({ range: 'bytes=0-1' }), 400, 'InvalidRequest'],
  ['HeadObject', 'HEAD /bucket/absent', {}, 404, 'NoSuchKey'],
  ['HeadObject', 'HEAD /versioned/gone?versionId=MARKER', {}, 405, 'MethodNotAllowed'],
  [
    'HeadObject',
    'HEAD /bucket/key',
    headers({ 'if-unmodified-since': 'Thu, 01 Dec 1994 16:00:00 GMT' }),
    412,
    'PreconditionFailed',
  ],
  ['PutObject', `PUT /bucket/${long}`, {}, 400, 'KeyTooLongError'],
  ['PutObject', 'PUT /bucket/new', { body: 'x', headers: { 'content-md5': md5('y') } }, 400, 'BadDigest'],
  ['PutObject', 'PUT /bucket/new', { body: 'x', headers: { 'content-md5': 'no' } }, 400, 'InvalidDigest'],
  ['PutObject', 'PUT /bucket/new', { body: 'x', headers: { 'x-amz-checksum-crc32': 'AAAAAA==' } }, 400, 'BadDigest'],
  ['PutObject', 'PUT /bucket/new', { body: 'x', headers: { 'x-amz-checksum-crc32': 'x' } }, 400, 'InvalidRequest'],
  [
    'PutObject',
    'PUT /bucket/new',
    { body: 'x', headers: { 'x-amz-storage-class': 'GLACIER' } },
    400,
    'InvalidStorageClass',
  ],
  ['PutObject', 'PUT /bucket/new', { body: 'x', headers: { 'x-amz-tagging': 'a=1&a=2' } }, 400, 'InvalidArgument'],
  ['PutObject', 'PUT /bucket/key', { body: 'x', headers: { 'if-none-match': '*' } }, 412, 'PreconditionFailed'],
  ['PutObject', 'PUT /bucket/absent', { body: 'x', headers: { 'if-match': '"0"' } }, 404, 'NoSuchKey'],
  [
    'PutObject',
    'PUT /bucket/new',
    { body: 'x', headers: { 'x-amz-object-lock-legal-hold': 'ON', 'content-md5': md5('x') } },
    400,
    'InvalidRequest',
  ],
  [
    'PutObject',
    'PUT /versioned/new',
    { body: 'x', headers: { 'x-amz-object-lock-mode': 'COMPLIANCE', 'content-md5': md5('x') } },
    400,
    'InvalidArgument',
  ],
  [
    'PutObject',
    'PUT /versioned/new',
    {
      body: 'x',
      headers: {
        'x-amz-object-lock-mode': 'COMPLIANCE',
        'x-amz-object-lock-retain-until-date': '2001-01-01T00:00:00Z',
        'content-md5': md5('x'),
      },
    },
    400,
    'InvalidArgument',
  ],
  [
    'PutObject',
    'PUT /versioned/new',
    {
      body: 'x',
      headers: {
        'x-amz-object-lock-mode': 'NEVER',
        'x-amz-object-lock-retain-until-date': later,
        'content-md5': md5('x'),
      },
    },
    400,
    'InvalidArgument',
  ],
  ['PutObject', 'PUT /bucket/new', { body: 'x', headers: { 'x-amz-write-offset-bytes': '1' } }, 501, 'NotImplemented'],
  [
    'PutObject',
    'PUT /bucket/new',
    { body: 'x', headers: { 'x-amz-server-side-encryption': 'rot13' } },
    400,
    'InvalidEncryptionAlgorithmError',
  ],
  ['CopyObject', 'PUT /bucket/new', headers({ 'x-amz-copy-source': 'bucket' }), 400, 'InvalidArgument'],
  ['CopyObject', 'PUT /bucket/new', headers({ 'x-amz-copy-source': '/bucket/absent' }), 404, 'NoSuchKey'],
  ['CopyObject', 'PUT /bucket/new', headers({ 'x-amz-copy-source': '/absent/key' }), 404, 'NoSuchBucket'],
  ['CopyObject', 'PUT /bucket/key', headers({ 'x-amz-copy-source': '/bucket/key' }), 400, 'InvalidRequest'],
  [
    'CopyObject',
    'PUT /bucket/new',
    headers({ 'x-amz-copy-source': '/bucket/key', 'x-amz-metadata-directive': 'MERGE' }),
    400,
    'InvalidArgument',
  ],
  [
    'CopyObject',
    'PUT /bucket/new',
    headers({ 'x-amz-copy-source': '/versioned/gone?versionId=MARKER' }),
    400,
    'InvalidRequest',
  ],
  [
    'CopyObject',
    'PUT /bucket/new',
    headers({ 'x-amz-copy-source': `/versioned/key?versionId=${absentVersion}` }),
    404,
    'NoSuchVersion',
  ],
  [
    'CopyObject',
    'PUT /bucket/new',
    headers({ 'x-amz-copy-source': '/bucket/key', 'x-amz-copy-source-if-match': '"0"' }),
    412,
    'PreconditionFailed',
  ],
  [
    'CopyObject',
    'PUT /bucket/new',
    headers({ 'x-amz-copy-source': '/bucket/key', 'x-amz-tagging': 'a=b' }),
    400,
    'InvalidArgument',
  ],
  ['DeleteObject', 'DELETE /versioned/key?versionId=none', {}, 400, 'InvalidArgument'],
  ['DeleteObject', 'DELETE /bucket/key', headers({ 'if-match': '"0"' }), 412, 'PreconditionFailed'],
  ['DeleteObject', 'DELETE /bucket/key', headers({ 'x-amz-if-match-size': '1' }), 412, 'PreconditionFailed'],
  ['GetObjectAttributes', 'GET /bucket/key?attributes', {}, 400, 'InvalidRequest'],
  [
    'GetObjectAttributes',
    'GET /bucket/key?attributes',
    headers({ 'x-amz-object-attributes': 'Colour' }),
    400,
    'InvalidArgument',
  ],
  [
    'GetObjectAttributes',
    'GET /bucket/absent?attributes',
    headers({ 'x-amz-object-attributes': 'ETag' }),
    404,
    'NoSuchKey',
  ],
  ['GetObjectTagging', 'GET /bucket/absent?tagging', {}, 404, 'NoSuchKey'],
  ['GetObjectTagging', 'GET /versioned/gone?tagging&versionId=MARKER', {}, 405, 'MethodNotAllowed'],
  [
    'PutObjectTagging',
    'PUT /bucket/key?tagging',
    tagging(...Array.from({ length: 11 }, (_, at) => tag(`${at}`))),
    400,
    'BadRequest',
  ],
  ['PutObjectTagging', 'PUT /bucket/key?tagging', tagging(tag('k'.repeat(129))), 400, 'InvalidTag'],
  ['PutObjectTagging', 'PUT /bucket/key?tagging', tagging(tag('k', 'v'.repeat(257))), 400, 'InvalidTag'],
  ['PutObjectTagging', 'PUT /bucket/absent?tagging', tagging(tag('k')), 404, 'NoSuchKey'],
  ['DeleteObjectTagging', 'DELETE /bucket/absent?tagging', {}, 404, 'NoSuchKey'],
  ['DeleteObjectTagging', `DELETE /versioned/key?tagging&versionId=${absentVersion}`, {}, 404, 'NoSuchVersion'],
  ['GetObjectRetention', 'GET /bucket/key?retention', {}, 400, 'InvalidRequest'],
  ['GetObjectRetention', 'GET /versioned/key?retention', {}, 404, 'NoSuchObjectLockConfiguration'],
  [
    'PutObjectRetention',
    'PUT /bucket/key?retention',
    document(`<Retention><Mode>GOVERNANCE</Mode><RetainUntilDate>${later}</RetainUntilDate></Retention>`),
    400,
    'InvalidRequest',
  ],
  [
    'PutObjectRetention',
    'PUT /versioned/key?retention',
    document('<Retention><Mode>GOVERNANCE</Mode></Retention>'),
    400,
    'MalformedXML',
  ],
  [
    'PutObjectRetention',
    'PUT /versioned/key?retention',
    document('<Retention><Mode>GOVERNANCE</Mode><RetainUntilDate>2001-01-01T00:00:00Z</RetainUntilDate></Retention>'),
    400,
    'InvalidArgument',
  ],
  [
    'PutObjectRetention',
    'PUT /versioned/gone?retention&versionId=MARKER',
    document(`<Retention><Mode>GOVERNANCE</Mode><RetainUntilDate>${later}</RetainUntilDate></Retention>`),
    405,
    'MethodNotAllowed',
  ],
  ['GetObjectLegalHold', 'GET /bucket/key?legal-hold', {}, 400, 'InvalidRequest'],
  ['GetObjectLegalHold', 'GET /versioned/key?legal-hold', {}, 404, 'NoSuchObjectLockConfiguration'],
  [
    'PutObjectLegalHold',
    'PUT /versioned/key?legal-hold',
    document('<LegalHold><Status>MAYBE</Status></LegalHold>'),
    400,
    'MalformedXML',
  ],
  [
    'PutObjectLegalHold',
    'PUT /bucket/key?legal-hold',
    document('<LegalHold><Status>ON</Status></LegalHold>'),
    400,
    'InvalidRequest',
  ],
  [
    'CreateMultipartUpload',
    'POST /bucket/up?uploads',
    headers({ 'x-amz-storage-class': 'TAPE' }),
    400,
    'InvalidStorageClass',
  ],
  [
    'CreateMultipartUpload',
    'POST /bucket/up?uploads',
    headers({ 'x-amz-checksum-algorithm': 'CRC16' }),
    400,
    'InvalidRequest',
  ],
  [
    'CreateMultipartUpload',
    'POST /bucket/up?uploads',
    headers({ 'x-amz-checksum-algorithm': 'CRC64NVME', 'x-amz-checksum-type': 'COMPOSITE' }),
    400,
    'InvalidRequest',
  ],
  ['UploadPart', 'PUT /bucket/up?partNumber=0&uploadId=UPLOAD', { body: 'x' }, 400, 'InvalidArgument'],
  ['UploadPart', 'PUT /bucket/up?partNumber=10001&uploadId=UPLOAD', { body: 'x' }, 400, 'InvalidArgument'],
  ['UploadPart', 'PUT /bucket/up?partNumber=1&uploadId=none', { body: 'x' }, 404, 'NoSuchUpload'],
  ['UploadPart', 'PUT /bucket/other?partNumber=1&uploadId=UPLOAD', { body: 'x' }, 404, 'NoSuchUpload'],
  [
    'UploadPart',
    'PUT /bucket/up?partNumber=1&uploadId=UPLOAD',
    { body: 'x', headers: { 'content-md5': md5('y') } },
    400,
    'BadDigest',
  ],
  [
    'UploadPartCopy',
    'PUT /bucket/up?partNumber=1&uploadId=UPLOAD',
    headers({ 'x-amz-copy-source': '/bucket/absent' }),
    404,
    'NoSuchKey',
  ],
  [
    'UploadPartCopy',
    'PUT /bucket/up?partNumber=1&uploadId=UPLOAD',
    headers({ 'x-amz-copy-source': '/bucket/key', 'x-amz-copy-source-range': 'bytes=0-100' }),
    400,
    'InvalidArgument',
  ],
  [
    'UploadPartCopy',
    'PUT /bucket/up?partNumber=1&uploadId=UPLOAD',
    headers({ 'x-amz-copy-source': '/bucket/key', 'x-amz-copy-source-range': '0-1' }),
    400,
    'InvalidArgument',
  ],
  ['CompleteMultipartUpload', 'POST /bucket/up?uploadId=UPLOAD', complete(), 400, 'MalformedXML'],
  ['CompleteMultipartUpload', 'POST /bucket/up?uploadId=UPLOAD', complete(part(1, '"0"')), 400, 'InvalidPart'],
  ['CompleteMultipartUpload', 'POST /bucket/up?uploadId=UPLOAD', complete(part(3, ETAG)), 400, 'InvalidPart'],
  [
    'CompleteMultipartUpload',
    'POST /bucket/up?uploadId=UPLOAD',
    complete(part(2, ETAG), part(1, ETAG)),
    400,
    'InvalidPartOrder',
  ],
  [
    'CompleteMultipartUpload',
    'POST /bucket/up?uploadId=UPLOAD',
    complete(part(1, ETAG), part(2, ETAG)),
    400,
    'EntityTooSmall',
  ],
  ['CompleteMultipartUpload', 'POST /bucket/up?uploadId=none', complete(part(1, ETAG)), 404, 'NoSuchUpload'],
  ['AbortMultipartUpload', 'DELETE /bucket/up?uploadId=none', {}, 404, 'NoSuchUpload'],
  ['AbortMultipartUpload', 'DELETE /bucket/other?uploadId=UPLOAD', {}, 404, 'NoSuchUpload'],
  ['ListParts', 'GET /bucket/up?uploadId=none', {}, 404, 'NoSuchUpload'],
  ['ListParts', 'GET /bucket/up?uploadId=UPLOAD&max-parts=-1', {}, 400, 'InvalidArgument'],
  ['ListParts', 'GET /bucket/up?uploadId=UPLOAD&part-number-marker=x', {}, 400, 'InvalidArgument'],
];

describe('a request that breaks a rule', () => {
  it('is tried of every operation, in three ways at least', () => {
    const generic = new Set(ofBuckets.map(({ name }) => name));
    const tried = (name: string) =>
      rows.filter(([operation]) => operation === name).length + (generic.has(name) ? 3 : 0);
    expect(names.filter(({ name }) => tried(name) < 3)).toEqual([]);
    expect(rows.length + ofBuckets.length * 3).toBeGreaterThan(300);
    expect(rows.filter(([operation]) => !names.some(({ name }) => name === operation))).toEqual([]);
  });

  const source = { 'x-amz-copy-source': '/bucket/key' };
  it.each<[request: string, given: Readonly<Record<string, string>>, details: readonly string[]]>([
    ['GET /bucket/key', { range: 'bytes=100-200' }, ['<RangeRequested>bytes=100-200<', '<ActualObjectSize>7<']],
    ['GET /bucket/key', { range: 'bytes=-0' }, ['<RangeRequested>bytes=-0<']],
    ['PUT /bucket/c', { ...source, 'x-amz-copy-source-if-match': '"0"' }, ['<Condition>x-amz-copy-source-If-Match<']],
    ['PUT /bucket/c', { ...source, 'x-amz-copy-source-if-none-match': '*' }, ['>x-amz-copy-source-If-None-Match<']],
    ['PUT /bucket/c', { 'x-amz-copy-source': 'none' }, ['Copy Source must mention', '<ArgumentValue>none<']],
    ['PUT /bucket/c', { ...source, 'x-amz-tagging-directive': 'MOVE' }, ['<Message>Unknown tagging directive.<']],
    ['GET /bucket?list-type=3', {}, ['<Message>Invalid List Type specified in Request<', '<ArgumentValue>3<']],
  ])('%s with %o has the details of S3', async (request, given, details) => {
    const [method = '', target = ''] = request.split(' ');
    const { body, refusal } = await calls.call(method, target, { headers: given });
    for (const detail of details) expect(refusal === '' ? body : refusal).toContain(detail);
  });

  it.each(rows)('%s: %s %o is %i %s', async (_operation, request, more, status, code) => {
    const [method = '', target = ''] = filled(request).split(' ');
    const given = Object.entries(more.headers ?? {}).map(([name, value]) => [name, filled(value)]);
    const reply = await calls.call(method, target, { ...more, headers: Object.fromEntries(given) });
    expectRefusal(reply, status, code, target.split('?')[0] ?? '');
  });
});
