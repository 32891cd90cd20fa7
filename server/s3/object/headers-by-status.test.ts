import { beforeAll, describe, expect, it } from 'vitest';
import { type Reply, testCalls, type TestCalls } from '../../../test/support/s3-api/s3-calls.ts';

const described = {
  'cache-control': 'max-age=60',
  'content-disposition': 'inline',
  'content-encoding': 'gzip',
  'content-language': 'de',
  'content-type': 'text/plain',
  expires: 'Thu, 01 Dec 2033 16:00:00 GMT',
  'x-amz-meta-name': 'value',
  'x-amz-storage-class': 'REDUCED_REDUNDANCY',
  'x-amz-tagging': 'a=b',
  'x-amz-website-redirect-location': '/elsewhere',
};

/** The headers that a cache renews by a 304. */
const ofCaches = ['cache-control', 'etag', 'expires', 'last-modified', 'x-amz-version-id'];

/** Which headers of the 200 each other status of the same object has. `all`: each of them, with the same value but for the length. */
const statuses: readonly (readonly [
  string,
  number,
  Readonly<Record<string, string>>,
  string,
  'all' | readonly string[],
])[] = [
  ['a part of the object', 206, { range: 'bytes=0-1' }, '', 'all'],
  ['the object as its own part', 206, {}, '?partNumber=1', 'all'],
  ['an ETag that the client has', 304, { 'if-none-match': 'ETAG' }, '', ofCaches],
  ['a weak ETag that the client has', 304, { 'if-none-match': 'W/ETAG' }, '', ofCaches],
  ['any ETag', 304, { 'if-none-match': '*' }, '', ofCaches],
  ['the time that the client has', 304, { 'if-modified-since': 'Thu, 01 Dec 2033 16:00:00 GMT' }, '', ofCaches],
  ['a range of what the client has', 304, { range: 'bytes=0-1', 'if-none-match': 'ETAG' }, '', ofCaches],
  ['another ETag', 412, { 'if-match': '"other"' }, '', []],
  ['a weak ETag where a strong one is needed', 412, { 'if-match': 'W/ETAG' }, '', []],
  ['an older time', 412, { 'if-unmodified-since': 'Thu, 01 Dec 1994 16:00:00 GMT' }, '', []],
  ['a range beyond the end', 416, { range: 'bytes=100-200' }, '', []],
];

let calls: TestCalls;
let etag: string;
let whole: Reply;
beforeAll(async () => {
  calls = await testCalls();
  await calls.call('PUT', '/bucket?versioning', {
    body: '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>',
  });
  await calls.call('PUT', '/bucket/key', { body: 'content', headers: described });
  whole = await calls.call('GET', '/bucket/key');
  etag = whole.headers['etag'] ?? '';
});

describe.each(['GET', 'HEAD'])('the headers of a 200 that %s carries for', (method) => {
  it.each(statuses)('%s: %i', async (_what, status, given, query, carried) => {
    const headers = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, value.replace('ETAG', etag)]),
    );
    const reply = await calls.call(method, `/bucket/key${query}`, { headers });
    expect(reply.status).toBe(status);
    const names = Object.keys(whole.headers).filter((name) => name !== 'content-length');
    const same = names.filter((name) => reply.headers[name] === whole.headers[name]);
    expect(same.toSorted()).toEqual(carried === 'all' ? names.toSorted() : carried.toSorted());
  });
});

it('carries what the query replaces in a 304, too', async () => {
  const target = '/bucket/key?response-cache-control=no-store&response-expires=0';
  const { headers } = await calls.call('GET', target, { headers: { 'if-none-match': etag } });
  expect(headers).toMatchObject({ 'cache-control': 'no-store', expires: '0' });
});

it('has no headers of caches in a 304 of an object without them', async () => {
  const { headers } = await calls.call('PUT', '/bucket/plain', { body: 'x' });
  const reply = await calls.call('GET', '/bucket/plain', { headers: { 'if-none-match': headers['etag'] ?? '' } });
  expect(Object.keys(reply.headers).toSorted()).toEqual(['etag', 'last-modified', 'x-amz-version-id']);
});
