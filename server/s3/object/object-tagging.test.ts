import { beforeEach, describe, expect, it } from 'vitest';
import { writeTagging } from '../../../protocol/s3/tagging.ts';
import { testCalls, type CallOptions, type TestCalls } from '../../../test/support/s3-api/s3-calls.ts';

let calls: TestCalls;
/** The actions that the caller lacks. */
let denied: string[];
let asked: { readonly action: string; readonly resource: string; readonly context: object }[];
beforeEach(async () => {
  denied = [];
  asked = [];
  calls = await testCalls({
    authorize: ({ action, resource, context }) => {
      asked.push({ action, resource, context });
      return !denied.includes(action);
    },
  });
  await calls.call('PUT', '/bucket/key', { body: 'content', headers: { 'x-amz-tagging': 'team=red&cost=1' } });
  await calls.call('PUT', '/bucket/plain', { body: 'content' });
});

const code = async (method: string, target: string, more: CallOptions = {}) =>
  (await calls.call(method, target, more)).code;
const tagsOf = async (key: string) => (await calls.layer.getObjectTags('bucket', key)).tags;
const count = async (key: string) => (await calls.call('HEAD', `/bucket/${key}`)).headers['x-amz-tagging-count'];
const tagging = (...pairs: [string, string][]) =>
  `<Tagging><TagSet>${pairs.map(([key, value]) => `<Tag><Key>${key}</Key><Value>${value}</Value></Tag>`).join('')}</TagSet></Tagging>`;
const many = (size: number) => Array.from({ length: size }, (_, at): [string, string] => [`key-${at}`, 'v']);
const copyOf = (headers: Record<string, string> = {}) => ({
  headers: { 'x-amz-copy-source': '/bucket/key', ...headers },
});

describe('the subresource tagging', () => {
  it('has the tags', async () => {
    const reply = await calls.call('GET', '/bucket/key?tagging');
    expect([reply.status, reply.body]).toEqual([200, writeTagging({ cost: '1', team: 'red' })]);
    expect((await calls.call('GET', '/bucket/plain?tagging')).body).toBe(writeTagging({}));
  });

  it('replaces and removes them', async () => {
    expect((await calls.call('PUT', '/bucket/key?tagging', { body: tagging(['a', 'b']) })).status).toBe(200);
    expect(await tagsOf('key')).toEqual({ a: 'b' });
    expect((await calls.call('DELETE', '/bucket/key?tagging')).status).toBe(204);
    expect(await tagsOf('key')).toEqual({});
    expect(await count('key')).toBeUndefined();
  });

  it('removes them by an empty set', async () => {
    await calls.call('PUT', '/bucket/key?tagging', { body: tagging() });
    expect(await tagsOf('key')).toEqual({});
  });

  it.each<[string, string, number, string]>([
    ['eleven tags', tagging(...many(11)), 400, 'BadRequest'],
    ['a key of 129 characters', tagging(['k'.repeat(129), 'v']), 400, 'InvalidTag'],
    ['a value of 257 characters', tagging(['k', 'v'.repeat(257)]), 400, 'InvalidTag'],
    ['an empty key', tagging(['', 'v']), 400, 'InvalidTag'],
    ['a key given twice', tagging(['k', 'v'], ['k', 'w']), 400, 'InvalidTag'],
    ['a reserved key', tagging(['aws:k', 'v']), 400, 'InvalidTag'],
    ['a character that is not allowed', tagging(['k', 'a;b']), 400, 'InvalidTag'],
    ['no body', '', 400, 'MissingRequestBodyError'],
    ['no set', '<Tagging/>', 400, 'MalformedXML'],
    ['a tag without a value', '<Tagging><TagSet><Tag><Key>k</Key></Tag></TagSet></Tagging>', 400, 'MalformedXML'],
    ['another document', '<LegalHold/>', 400, 'MalformedXML'],
  ])('is refused with %s', async (_, body, status, expected) => {
    expect(await calls.call('PUT', '/bucket/key?tagging', { body })).toMatchObject({ status, code: expected });
    expect(await tagsOf('key')).toEqual({ cost: '1', team: 'red' });
  });

  it('takes ten tags of the longest keys and values', async () => {
    const body = tagging(...many(10).map(([key]): [string, string] => [key.padEnd(128, 'k'), 'v'.repeat(256)]));
    expect((await calls.call('PUT', '/bucket/key?tagging', { body })).status).toBe(200);
    expect(await count('key')).toBe('10');
  });

  it.each(['GET', 'PUT', 'DELETE'])('of an absent object is NoSuchKey: %s', async (method) => {
    const body = method === 'PUT' ? tagging() : '';
    expect(await calls.call(method, '/bucket/absent?tagging', { body })).toMatchObject({
      status: 404,
      code: 'NoSuchKey',
    });
  });

  it('hides an absent object from a caller who may not list', async () => {
    denied = ['s3:ListBucket'];
    expect(await code('GET', '/bucket/absent?tagging')).toBe('AccessDenied');
  });

  it.each([
    ['GET', 's3:GetObjectTagging', 's3:GetObjectVersionTagging'],
    ['PUT', 's3:PutObjectTagging', 's3:PutObjectVersionTagging'],
    ['DELETE', 's3:DeleteObjectTagging', 's3:DeleteObjectVersionTagging'],
  ])('needs the permission: %s', async (method, action, versionAction) => {
    const more = { body: method === 'PUT' ? tagging() : '' };
    denied = [versionAction];
    expect(await code(method, '/bucket/key?tagging', more)).toBeUndefined();
    expect(await code(method, '/bucket/key?tagging&versionId=null', more)).toBe('AccessDenied');
    denied = [action];
    expect(await code(method, '/bucket/key?tagging', more)).toBe('AccessDenied');
  });

  it('does not read the document of a caller without the permission', async () => {
    denied = ['s3:PutObjectTagging'];
    const reply = await calls.call('PUT', '/bucket/key?tagging', { body: tagging() });
    expect([reply.code, reply.bytesRead]).toEqual(['AccessDenied', 0]);
  });

  it('decides with the tags of the document', async () => {
    await calls.call('PUT', '/bucket/key?tagging', { body: tagging(['Team', 'red'], ['a', 'b']) });
    expect(asked.at(-1)).toMatchObject({
      action: 's3:PutObjectTagging',
      context: {
        's3:requestobjecttag/team': ['red'],
        's3:requestobjecttag/a': ['b'],
        's3:RequestObjectTagKeys': ['Team', 'a'],
      },
    });
  });
});

describe('tags of versions', () => {
  let first: string;
  beforeEach(async () => {
    await calls.layer.putBucketVersioning('bucket', { status: 'Enabled' });
    const put = () => calls.call('PUT', '/bucket/v', { body: 'content', headers: { 'x-amz-tagging': 'n=1' } });
    first = (await put()).headers['x-amz-version-id'] ?? '';
    await put();
  });

  it('belong to the version that the request names', async () => {
    const target = `/bucket/v?tagging&versionId=${first}`;
    expect((await calls.call('PUT', target, { body: tagging(['n', '2']) })).headers['x-amz-version-id']).toBe(first);
    expect((await calls.call('GET', target)).body).toBe(writeTagging({ n: '2' }));
    expect((await calls.call('GET', '/bucket/v?tagging')).body).toBe(writeTagging({ n: '1' }));
    expect((await calls.call('DELETE', target)).headers['x-amz-version-id']).toBe(first);
    expect((await calls.call('GET', target)).body).toBe(writeTagging({}));
  });

  it('are not of a delete marker', async () => {
    const marker = (await calls.call('DELETE', '/bucket/v')).headers['x-amz-version-id'] ?? '';
    expect(await code('GET', '/bucket/v?tagging')).toBe('NoSuchKey');
    expect(await code('GET', `/bucket/v?tagging&versionId=${marker}`)).toBe('MethodNotAllowed');
    expect(await code('PUT', `/bucket/v?tagging&versionId=${marker}`, { body: tagging() })).toBe('MethodNotAllowed');
  });

  it.each([
    ['none', 400, 'InvalidArgument'],
    ['', 400, 'InvalidArgument'],
    ['0123456789abcdef0123456789abcdef', 404, 'NoSuchVersion'],
  ])('of the version %j are refused', async (versionId, status, expected) => {
    const reply = await calls.call('GET', `/bucket/v?tagging&versionId=${versionId}`);
    expect(reply).toMatchObject({ status, code: expected });
  });
});

describe('the header x-amz-tagging', () => {
  it('counts the tags, for a caller who may read them', async () => {
    expect(await count('key')).toBe('2');
    expect(await count('plain')).toBeUndefined();
    denied = ['s3:GetObjectTagging'];
    expect(await count('key')).toBeUndefined();
    expect((await calls.call('GET', '/bucket/key')).headers['x-amz-tagging-count']).toBeUndefined();
  });

  it('is in the answer to a read that asks for it, as in MinIO, for a caller who may read tags', async () => {
    const headers = { 'x-amz-tagging-directive': 'ACCESS' };
    for (const method of ['GET', 'HEAD']) {
      expect((await calls.call(method, '/bucket/key', { headers })).headers['x-amz-tagging']).toBe('cost=1&team=red');
      expect((await calls.call(method, '/bucket/key')).headers['x-amz-tagging']).toBeUndefined();
      expect((await calls.call(method, '/bucket/plain', { headers })).headers['x-amz-tagging']).toBeUndefined();
    }
    await calls.layer.putObjectTags('bucket', 'key', { 'a b': 'c&d=e' });
    expect((await calls.call('GET', '/bucket/key', { headers })).headers['x-amz-tagging']).toBe('a%20b=c%26d%3De');
    denied = ['s3:GetObjectTagging'];
    expect((await calls.call('GET', '/bucket/key', { headers })).headers['x-amz-tagging']).toBeUndefined();
  });

  it('needs s3:PutObjectTagging, and sets condition keys', async () => {
    denied = ['s3:PutObjectTagging'];
    const headers = { 'x-amz-tagging': 'a=b' };
    expect(await code('PUT', '/bucket/new', { headers, body: 'x' })).toBe('AccessDenied');
    expect(await code('POST', '/bucket/new?uploads', { headers })).toBe('AccessDenied');
    expect(await code('PUT', '/bucket/new', { body: 'x', headers: { 'x-amz-tagging': '' } })).toBeUndefined();
    expect(asked.findLast(({ action }) => action === 's3:PutObjectTagging')?.context).toMatchObject({
      's3:requestobjecttag/a': ['b'],
      's3:RequestObjectTagKeys': ['a'],
    });
  });

  it.each([
    ['a=b&a=c', 'InvalidArgument'],
    ['a=b=c', 'InvalidArgument'],
    ['a=%', 'InvalidArgument'],
    ['a=%5B', 'InvalidTag'],
    [`${'k'.repeat(129)}=v`, 'InvalidTag'],
    [
      many(11)
        .map((pair) => pair.join('='))
        .join('&'),
      'BadRequest',
    ],
  ])('is refused: %j', async (value, expected) => {
    const headers = { 'x-amz-tagging': value };
    expect(await calls.call('PUT', '/bucket/new', { headers, body: 'x' })).toMatchObject({
      status: 400,
      code: expected,
    });
    expect(await calls.call('POST', '/bucket/new?uploads', { headers })).toMatchObject({ status: 400, code: expected });
  });

  it('of an upload is kept', async () => {
    const { body } = await calls.call('POST', '/bucket/up?uploads', { headers: { 'x-amz-tagging': 'a=b' } });
    const uploadId = /<UploadId>(.*)<\/UploadId>/.exec(body)?.[1] ?? '';
    const part = await calls.call('PUT', `/bucket/up?partNumber=1&uploadId=${uploadId}`, { body: 'part' });
    const parts = `<Part><PartNumber>1</PartNumber><ETag>${part.headers['etag'] ?? ''}</ETag></Part>`;
    const document = `<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`;
    await calls.call('POST', `/bucket/up?uploadId=${uploadId}`, { body: document });
    expect(await tagsOf('up')).toEqual({ a: 'b' });
  });
});

describe('a copy', () => {
  it('has the tags of its source', async () => {
    await calls.call('PUT', '/bucket/copy', copyOf());
    expect(await tagsOf('copy')).toEqual({ cost: '1', team: 'red' });
  });

  it('has those of the header with REPLACE, also none', async () => {
    await calls.call('PUT', '/bucket/copy', copyOf({ 'x-amz-tagging-directive': 'REPLACE', 'x-amz-tagging': 'a=b' }));
    expect(await tagsOf('copy')).toEqual({ a: 'b' });
    await calls.call('PUT', '/bucket/copy', copyOf({ 'x-amz-tagging-directive': 'REPLACE' }));
    expect(await tagsOf('copy')).toEqual({});
  });

  it.each<[string, Record<string, string>]>([
    ['another directive', { 'x-amz-tagging-directive': 'MERGE' }],
    ['tags with COPY', { 'x-amz-tagging-directive': 'COPY', 'x-amz-tagging': 'a=b' }],
    ['tags without a directive', { 'x-amz-tagging': 'a=b' }],
  ])('is refused with %s', async (_, headers) => {
    expect(await calls.call('PUT', '/bucket/copy', copyOf(headers))).toMatchObject({
      status: 400,
      code: 'InvalidArgument',
    });
  });

  it.each(['s3:GetObjectTagging', 's3:PutObjectTagging'])('of a tagged source needs %s', async (action) => {
    denied = [action];
    expect(await code('PUT', '/bucket/copy', copyOf())).toBe('AccessDenied');
    expect(await code('PUT', '/bucket/copy', { headers: { 'x-amz-copy-source': '/bucket/plain' } })).toBeUndefined();
  });

  it('of an absent source says so', async () => {
    const headers = { 'x-amz-copy-source': '/bucket/absent' };
    expect(await code('PUT', '/bucket/copy', { headers })).toBe('NoSuchKey');
  });

  it('onto itself may replace the tags alone', async () => {
    const headers = { 'x-amz-tagging-directive': 'REPLACE', 'x-amz-tagging': 'a=b' };
    expect(await code('PUT', '/bucket/key', copyOf(headers))).toBeUndefined();
    expect(await tagsOf('key')).toEqual({ a: 'b' });
    expect(await code('PUT', '/bucket/key', copyOf())).toBe('InvalidRequest');
  });
});
