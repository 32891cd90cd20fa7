import { beforeEach, describe, expect, it } from 'vitest';
import type { AccessRequest } from '../../auth/principal.ts';
import { put } from '../../../test/support/objects/test-layer.ts';
import { type CallOptions, type Reply, testCalls, type TestCalls } from '../../../test/support/s3-api/s3-calls.ts';

const absent = '0123456789abcdef0123456789abcdef';
let test: TestCalls;
let asked: AccessRequest[];
let allows: (request: AccessRequest) => boolean;
/** The versions of `key`: the object from before versioning, two objects, a marker, and the current object. */
let ids: Readonly<Record<'null' | 'first' | 'second' | 'marker' | 'last', string>>;

const write = async (text: string, key = 'key') =>
  (await test.layer.putObject(put('bucket', key, text))).versionId ?? '';

beforeEach(async () => {
  asked = [];
  allows = () => true;
  test = await testCalls({
    authorize(request) {
      asked.push(request);
      return allows(request);
    },
  });
  await write('from before');
  await test.layer.putBucketVersioning('bucket', { status: 'Enabled' });
  const first = await write('first');
  const second = await write('second');
  const { versionId: marker = '' } = await test.layer.deleteObject('bucket', 'key');
  const last = await write('last');
  ids = { null: 'null', first, second, marker, last };
  await write('hidden', 'deleted');
  await test.layer.deleteObject('bucket', 'deleted');
});

const call = (method: string, target: string, more?: CallOptions): Promise<Reply> => test.call(method, target, more);
const version = (name: keyof typeof ids) => `versionId=${ids[name]}`;

const entry = (key: string, versionId?: string) =>
  `<Object><Key>${key}</Key>${versionId === undefined ? '' : `<VersionId>${versionId}</VersionId>`}</Object>`;
const deletion = (entries: readonly string[], quiet = false) => ({
  body: `<Delete>${quiet ? '<Quiet>true</Quiet>' : ''}${entries.join('')}</Delete>`,
});
const source = (versionId: string) => ({ 'x-amz-copy-source': `bucket/key${versionId}` });

const from = (source: string) => ({ headers: { 'x-amz-copy-source': source } });

async function bodyOf(target: string): Promise<string> {
  return (await call('GET', target)).body;
}

describe('reading a version', () => {
  it.each([
    ['null', 'from before'],
    ['first', 'first'],
    ['second', 'second'],
    ['last', 'last'],
  ] as const)('GET, HEAD and GetObjectAttributes read %s', async (name, text) => {
    const headers = { 'x-amz-version-id': ids[name] };
    expect(await call('GET', `/bucket/key?${version(name)}`)).toMatchObject({ status: 200, body: text, headers });
    expect(await call('HEAD', `/bucket/key?${version(name)}`)).toMatchObject({ status: 200, headers });
    const attributes = await call('GET', `/bucket/key?attributes&${version(name)}`, {
      headers: { 'x-amz-object-attributes': 'ObjectSize' },
    });
    expect(attributes).toMatchObject({ status: 200, headers });
    expect(attributes.body).toContain(`<ObjectSize>${text.length}</ObjectSize>`);
  });

  it('names the current version where the request names none', async () => {
    const headers = { 'x-amz-version-id': ids.last };
    expect(await call('GET', '/bucket/key')).toMatchObject({ body: 'last', headers });
    expect(await call('HEAD', '/bucket/key')).toMatchObject({ headers });
  });

  it('names no version in a bucket that never had versions', async () => {
    await test.layer.createBucket('plain', { location: '' });
    const headers = [(await call('PUT', '/plain/key', { body: 'a' })).headers];
    headers.push((await call('GET', '/plain/key')).headers, (await call('DELETE', '/plain/key')).headers);
    for (const one of headers) expect(Object.keys(one)).not.toContain('x-amz-version-id');
  });

  it.each(['GET', 'HEAD'])('answers %s with a condition of a cache by a 304 that names the version', async (method) => {
    for (const name of ['null', 'first', 'last'] as const) {
      const { headers } = await call('HEAD', `/bucket/key?${version(name)}`);
      const conditions = { 'if-none-match': headers['etag'] ?? '' };
      expect(await call(method, `/bucket/key?${version(name)}`, { headers: conditions })).toMatchObject({
        status: 304,
        headers: {
          'x-amz-version-id': ids[name],
          etag: headers['etag'],
          'last-modified': headers['last-modified'],
        },
      });
    }
  });

  const attributes = { 'x-amz-object-attributes': 'ETag' };
  const marked = { 'x-amz-delete-marker': 'true' };
  it.each<[string, string, Partial<Reply>, Record<string, string>?]>([
    ['GET', '/bucket/key?versionId=', { status: 400, code: 'InvalidArgument' }],
    ['HEAD', '/bucket/key?versionId=', { status: 400, code: 'InvalidArgument' }],
    ['GET', '/bucket/key?attributes&versionId=', { status: 400, code: 'InvalidArgument' }, attributes],
    ['DELETE', '/bucket/key?versionId=', { status: 400, code: 'InvalidArgument' }],
    ['GET', '/bucket/key?versionId=none', { status: 400, code: 'InvalidArgument' }],
    ['HEAD', '/bucket/key?versionId=none', { status: 400, code: 'InvalidArgument' }],
    ['GET', '/bucket/key?attributes&versionId=none', { status: 400, code: 'InvalidArgument' }, attributes],
    ['DELETE', '/bucket/key?versionId=none', { status: 400, code: 'InvalidArgument' }],
    ['GET', `/bucket/key?versionId=${absent.toUpperCase()}`, { status: 400, code: 'InvalidArgument' }],
    ['GET', '/bucket/key?versionId=NULL', { status: 400, code: 'InvalidArgument' }],
    ['GET', `/bucket/key?versionId=${absent}`, { status: 404, code: 'NoSuchVersion' }],
    ['HEAD', `/bucket/key?versionId=${absent}`, { status: 404, code: 'NoSuchVersion' }],
    ['GET', `/bucket/key?attributes&versionId=${absent}`, { status: 404, code: 'NoSuchVersion' }, attributes],
    ['GET', '/bucket/other?versionId=null', { status: 404, code: 'NoSuchVersion' }],
    ['GET', '/bucket/deleted?versionId=null', { status: 404, code: 'NoSuchVersion' }],
    ['GET', `/absent/key?versionId=${absent}`, { status: 404, code: 'NoSuchBucket' }],
    ['GET', '/bucket/deleted', { status: 404, code: 'NoSuchKey', headers: marked }],
    ['HEAD', '/bucket/deleted', { status: 404, code: 'NoSuchKey', headers: marked }],
    ['GET', '/bucket/deleted?attributes', { status: 404, code: 'NoSuchKey', headers: marked }, attributes],
    ['GET', '/bucket/key?versionId=MARKER', { status: 405, code: 'MethodNotAllowed', headers: marked }],
    ['HEAD', '/bucket/key?versionId=MARKER', { status: 405, code: 'MethodNotAllowed', headers: marked }],
    ['PUT', '/bucket/key?versionId=null', { status: 400, code: 'InvalidArgument' }],
    ['POST', '/bucket/key?uploads&versionId=null', { status: 400, code: 'InvalidArgument' }],
    ['GET', '/bucket?versionId=null', { status: 400, code: 'InvalidArgument' }],
    ['POST', '/bucket?delete&versionId=null', { status: 400, code: 'InvalidArgument' }],
  ])('%s %s is refused', async (method, target, answer, headers = {}) => {
    expect(await call(method, target.replace('MARKER', ids.marker), { headers })).toMatchObject(answer);
    expect(await bodyOf('/bucket/key')).toBe('last');
  });

  it('gives the id of a delete marker and the method that it allows', async () => {
    expect((await call('GET', `/bucket/key?${version('marker')}`)).headers).toMatchObject({
      allow: 'DELETE',
      'x-amz-version-id': ids.marker,
      'last-modified': expect.any(String) as string,
    });
    const { headers } = await call('HEAD', '/bucket/deleted');
    expect(headers).toMatchObject({ 'x-amz-version-id': expect.stringMatching(/^[0-9a-f]{32}$/) as string });
  });
});

describe('writing into a bucket with versions', () => {
  it.each([
    ['Enabled', /^[0-9a-f]{32}$/],
    ['Suspended', /^undefined$/],
  ] as const)('PUT, copy and completion name their version while it is %s', async (status, expected) => {
    await test.layer.putBucketVersioning('bucket', { status });
    const replies = [await call('PUT', '/bucket/key', { body: 'new' })];
    replies.push(await call('PUT', '/bucket/copy', { headers: { 'x-amz-copy-source': 'bucket/key' } }));
    const { body } = await call('POST', '/bucket/large?uploads');
    const uploadId = /<UploadId>(.*)<\/UploadId>/.exec(body)?.[1] ?? '';
    const part = await call('PUT', `/bucket/large?partNumber=1&uploadId=${uploadId}`, { body: 'part' });
    expect(Object.keys(part.headers)).not.toContain('x-amz-version-id');
    const parts = `<Part><PartNumber>1</PartNumber><ETag>${part.headers['etag'] ?? ''}</ETag></Part>`;
    const document = `<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`;
    replies.push(await call('POST', `/bucket/large?uploadId=${uploadId}`, { body: document }));
    for (const { status: code, headers } of replies) {
      expect(code).toBe(200);
      expect(String(headers['x-amz-version-id'])).toMatch(expected);
    }
    const { headers } = await call('HEAD', '/bucket/large');
    expect(headers['x-amz-version-id']).toBe(replies[2]?.headers['x-amz-version-id'] ?? 'null');
  });
});

describe('copying a version', () => {
  it.each(['null', 'first', 'second', 'last'] as const)('CopyObject reads %s', async (name) => {
    const reply = await call('PUT', '/bucket/copy', from(`/bucket/key?${version(name)}`));
    expect(reply).toMatchObject({ status: 200, headers: { 'x-amz-copy-source-version-id': ids[name] } });
    expect(await bodyOf('/bucket/copy')).toBe(name === 'null' ? 'from before' : name);
  });

  it('names the current version of the source where the request names none', async () => {
    const { headers } = await call('PUT', '/bucket/copy', from('bucket/key'));
    expect(headers).toMatchObject({ 'x-amz-copy-source-version-id': ids.last });
  });

  it('restores an old version by a copy onto its own key', async () => {
    const { headers } = await call('PUT', '/bucket/key', from(`bucket/key?${version('first')}`));
    expect(await bodyOf('/bucket/key')).toBe('first');
    expect(headers['x-amz-version-id']).not.toBe(ids.first);
    expect(await bodyOf(`/bucket/key?${version('last')}`)).toBe('last');
  });

  it('UploadPartCopy reads a version', async () => {
    const { body } = await call('POST', '/bucket/large?uploads');
    const uploadId = /<UploadId>(.*)<\/UploadId>/.exec(body)?.[1] ?? '';
    const target = `/bucket/large?partNumber=1&uploadId=${uploadId}`;
    expect(await call('PUT', target, from(`bucket/key?${version('second')}`))).toMatchObject({
      status: 200,
      headers: { 'x-amz-copy-source-version-id': ids.second },
    });
  });

  it.each([
    ['bucket/key?versionId=', 400, 'InvalidArgument'],
    ['bucket/key?versionId=none', 400, 'InvalidArgument'],
    [`bucket/key?versionId=${absent}`, 404, 'NoSuchVersion'],
    ['bucket/key?versionId=MARKER', 400, 'InvalidRequest'],
    ['bucket/deleted', 404, 'NoSuchKey'],
    ['bucket/key', 400, 'InvalidRequest'],
  ])('refuses %s as the source of a copy onto the key', async (source, status, code) => {
    const reply = await call('PUT', '/bucket/key', from(source.replace('MARKER', ids.marker)));
    expect(reply).toMatchObject({ status, code });
    expect(await bodyOf('/bucket/key')).toBe('last');
  });
});

describe('deleting', () => {
  it('adds a marker without a version, and names it', async () => {
    const { status, headers } = await call('DELETE', '/bucket/key');
    expect(status).toBe(204);
    expect(headers).toMatchObject({ 'x-amz-delete-marker': 'true' });
    expect(await call('GET', '/bucket/key')).toMatchObject({ headers });
    expect(await bodyOf(`/bucket/key?${version('last')}`)).toBe('last');
  });

  it('removes the version that the request names', async () => {
    const reply = await call('DELETE', `/bucket/key?${version('first')}`);
    expect(reply).toMatchObject({ status: 204, headers: { 'x-amz-version-id': ids.first } });
    expect(Object.keys(reply.headers)).not.toContain('x-amz-delete-marker');
    expect(await call('GET', `/bucket/key?${version('first')}`)).toMatchObject({ code: 'NoSuchVersion' });
    expect(await bodyOf('/bucket/key')).toBe('last');
  });

  it('removes a marker, and shows the object before it', async () => {
    await call('DELETE', `/bucket/key?${version('last')}`);
    expect(await call('GET', '/bucket/key')).toMatchObject({ code: 'NoSuchKey' });
    const reply = await call('DELETE', `/bucket/key?${version('marker')}`);
    expect(reply.headers).toMatchObject({ 'x-amz-version-id': ids.marker, 'x-amz-delete-marker': 'true' });
    expect(await bodyOf('/bucket/key')).toBe('second');
  });

  it('succeeds for a version that is absent', async () => {
    expect(await call('DELETE', `/bucket/key?versionId=${absent}`)).toMatchObject({ status: 204 });
    expect(await bodyOf('/bucket/key')).toBe('last');
  });

  it.each([
    ['first', 'first', 204],
    ['first', 'last', 412],
  ] as const)('compares If-Match with the version that it names: %s, the ETag of %s', async (name, other, status) => {
    const { headers } = await call('HEAD', `/bucket/key?${version(other)}`);
    const conditions = { headers: { 'if-match': headers['etag'] ?? '' } };
    expect(await call('DELETE', `/bucket/key?${version(name)}`, conditions)).toMatchObject({ status });
  });

  it('DeleteObjects reports versions and markers', async () => {
    const entries = [
      entry('key', ids.first),
      entry('key', ids.marker),
      entry('key', 'null'),
      entry('key', 'none'),
      entry('new'),
    ];
    const { status, body } = await call('POST', '/bucket?delete', deletion(entries));
    expect(status).toBe(200);
    const results = [...body.matchAll(/<(?:Deleted|Error)>.*?<\/(?:Deleted|Error)>/g)].map(([result]) => result);
    expect(results).toEqual([
      `<Deleted><Key>key</Key><VersionId>${ids.first}</VersionId></Deleted>`,
      `<Deleted><Key>key</Key><VersionId>${ids.marker}</VersionId><DeleteMarker>true</DeleteMarker>` +
        `<DeleteMarkerVersionId>${ids.marker}</DeleteMarkerVersionId></Deleted>`,
      '<Deleted><Key>key</Key><VersionId>null</VersionId></Deleted>',
      '<Error><Key>key</Key><VersionId>none</VersionId><Code>NoSuchVersion</Code>' +
        '<Message>The specified version does not exist.</Message></Error>',
      expect.stringMatching(
        /^<Deleted><Key>new<\/Key><DeleteMarker>true<\/DeleteMarker><DeleteMarkerVersionId>[0-9a-f]{32}</,
      ) as string,
    ]);
    const left = await test.layer.listObjectVersions({
      bucket: 'bucket',
      prefix: 'key',
      delimiter: '',
      keyMarker: '',
      limit: 9,
    });
    expect(left.versions.map(({ versionId }) => versionId)).toEqual([ids.last, ids.second]);
  });

  it('DeleteObjects with Quiet reports errors alone', async () => {
    const entries = [entry('key', ids.first), entry('key', 'none'), entry('new')];
    const { body } = await call('POST', '/bucket?delete', deletion(entries, true));
    expect(body).not.toContain('<Deleted>');
    expect(body.match(/<Error>/g)).toHaveLength(1);
  });

  it('DeleteObjects authorizes each version by its own action and id', async () => {
    allows = ({ action, context }) =>
      action !== 's3:DeleteObjectVersion' || context['s3:versionid']?.[0] !== ids.second;
    const entries = [entry('key', ids.first), entry('key', ids.second)];
    const { body } = await call('POST', '/bucket?delete', deletion(entries));
    expect(body).toContain(`<Deleted><Key>key</Key><VersionId>${ids.first}</VersionId></Deleted>`);
    expect(body).toContain(`<VersionId>${ids.second}</VersionId><Code>AccessDenied</Code>`);
    expect(await bodyOf(`/bucket/key?${version('second')}`)).toBe('second');
  });
});

describe('the permission', () => {
  it.each<[string, string, string, string, CallOptions?]>([
    ['GET', '/bucket/key?VERSION', 's3:GetObjectVersion', 's3:GetObject'],
    ['HEAD', '/bucket/key?VERSION', 's3:GetObjectVersion', 's3:GetObject'],
    [
      'GET',
      '/bucket/key?attributes&VERSION',
      's3:GetObjectVersionAttributes',
      's3:GetObjectAttributes',
      { headers: { 'x-amz-object-attributes': 'ETag' } },
    ],
    ['DELETE', '/bucket/key?VERSION', 's3:DeleteObjectVersion', 's3:DeleteObject'],
  ])('%s %s needs %s, and %s without a version', async (method, target, ofVersion, ofObject, more) => {
    const named = target.replace('VERSION', version('first'));
    allows = ({ action }) => action !== ofVersion;
    expect(await call(method, named, more)).toMatchObject({ status: 403, code: 'AccessDenied' });
    expect(asked.at(-1)).toMatchObject({ resource: 'bucket/key', context: { 's3:versionid': [ids.first] } });
    expect((await call(method, target.replace(/[?&]VERSION/, ''), more)).status).toBeLessThan(300);
    allows = ({ action }) => action !== ofObject;
    expect((await call(method, named, more)).status).toBeLessThan(300);
  });

  it.each(['s3:GetObject', 's3:GetObjectAttributes'])('to read attributes needs %s too', async (action) => {
    allows = (request) => request.action !== action;
    const headers = { 'x-amz-object-attributes': 'ETag' };
    expect(await call('GET', '/bucket/key?attributes', { headers })).toMatchObject({ code: 'AccessDenied' });
  });

  it('to copy a version is that of its source', async () => {
    allows = ({ action }) => action !== 's3:GetObjectVersion';
    const named = source(`?${version('first')}`);
    expect(await call('PUT', '/bucket/copy', { headers: named })).toMatchObject({ code: 'AccessDenied' });
    expect(asked.at(-1)).toMatchObject({ resource: 'bucket/key', context: { 's3:versionid': [ids.first] } });
    expect(await call('PUT', '/bucket/copy', { headers: source('') })).toMatchObject({ status: 200 });
  });

  it.each([
    ['/bucket/deleted', 's3:ListBucket'],
    [`/bucket/key?versionId=${absent}`, 's3:ListBucketVersions'],
  ])('to list decides whether %s is 404 or 403', async (target, action) => {
    expect(await call('GET', target)).toMatchObject({ status: 404 });
    allows = (request) => request.action !== action;
    const reply = await call('GET', target);
    expect(reply).toMatchObject({ status: 403, code: 'AccessDenied' });
    expect(Object.keys(reply.headers)).not.toContain('x-amz-delete-marker');
  });
});
