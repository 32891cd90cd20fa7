import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Reply, testCalls, type TestCalls } from '../../../test/support/s3-api/s3-calls.ts';

type Headers = Readonly<Record<string, string>>;

const redirect = 'x-amz-website-redirect-location';
const prefixes = "The website redirect location must have a prefix of 'http://' or 'https://' or '/'.";

let calls: TestCalls;
beforeEach(async () => {
  calls = await testCalls();
});

const put = (headers: Headers, key = 'key') => calls.call('PUT', `/bucket/${key}`, { body: 'x', headers });
const head = async (key = 'key') => (await calls.call('HEAD', `/bucket/${key}`)).headers;
const copy = (headers: Headers, key = 'copy') =>
  calls.call('PUT', `/bucket/${key}`, { headers: { 'x-amz-copy-source': '/bucket/key', ...headers } });

describe('user metadata', () => {
  it('that is not ASCII is returned in encoded words, and those that come are decoded', async () => {
    const utf8 = Buffer.from('Miniö').toString('latin1');
    await put({ 'x-amz-meta-a': utf8, 'x-amz-meta-b': '=?utf-8?q?Mini=C3=B6?=', 'x-amz-meta-c': 'caf\u00e9' });
    const encoded = '=?UTF-8?B?TWluacO2?=';
    expect(await head()).toMatchObject({
      'x-amz-meta-a': encoded,
      'x-amz-meta-b': encoded,
      'x-amz-meta-c': '=?UTF-8?B?Y2Fmw6k=?=',
    });
  });

  it('with control characters is counted, and forges no header', async () => {
    await put({ 'x-amz-meta-a': '=?UTF-8?Q?a=0D=0Ax-amz-meta-forged:_b?=', 'x-amz-meta-b': 'seen' });
    const headers = await head();
    expect(headers).toMatchObject({ 'x-amz-missing-meta': '1', 'x-amz-meta-b': 'seen' });
    expect(Object.keys(headers)).not.toContain('x-amz-meta-a');
  });

  it('may have 2 KiB, as the text that is stored', async () => {
    const word = '=?UTF-8?Q?=61=61=61=61=61=61=61=61=61=61=61=61=61=61?=';
    expect((await put({ 'x-amz-meta-a': `${'x'.repeat(2_033)}${word}` })).status).toBe(200);
  });

  it('is not limited by the token of a session', async () => {
    expect((await put({ 'x-amz-security-token': 'x'.repeat(9_000) })).status).toBe(200);
  });
});

describe('the location of a redirect', () => {
  it.each(['/page', 'http://example.com/', 'https://example.com/?a=b'])('is stored and returned: %s', async (value) => {
    await put({ [redirect]: value });
    expect((await head())[redirect]).toBe(value);
    expect((await calls.call('GET', '/bucket/key')).headers[redirect]).toBe(value);
  });

  it('is kept by a multipart upload', async () => {
    const { body } = await calls.call('POST', '/bucket/key?uploads', { headers: { [redirect]: '/page' } });
    const target = `/bucket/key?uploadId=${/<UploadId>(.*)<\/UploadId>/.exec(body)?.[1] ?? ''}`;
    const { headers } = await calls.call('PUT', `${target}&partNumber=1`, { body: 'x' });
    const part = `<Part><PartNumber>1</PartNumber><ETag>${headers['etag'] ?? ''}</ETag></Part>`;
    await calls.call('POST', target, { body: `<CompleteMultipartUpload>${part}</CompleteMultipartUpload>` });
    expect((await head())[redirect]).toBe('/page');
  });

  it.each<[Headers, string | undefined]>([
    [{}, undefined],
    [{ 'x-amz-metadata-directive': 'REPLACE' }, undefined],
    [{ [redirect]: '/other' }, '/other'],
    [{ [redirect]: '/other', 'x-amz-metadata-directive': 'REPLACE' }, '/other'],
  ])('is not taken over by a copy with %o', async (headers, expected) => {
    await put({ [redirect]: '/page', 'x-amz-meta-a': 'b' });
    await copy(headers);
    expect((await head('copy'))[redirect]).toBe(expected);
  });

  it('is a change that allows a copy onto itself', async () => {
    await put({ 'x-amz-meta-a': 'b' });
    expect((await copy({ [redirect]: '/page' }, 'key')).code).toBeUndefined();
    expect(await head()).toMatchObject({ [redirect]: '/page', 'x-amz-meta-a': 'b' });
  });
});

describe('a copy of a multipart object', () => {
  const shaOfX = { 'x-amz-checksum-sha256': createHash('sha256').update('x').digest('base64') };

  it('onto itself has the ETag and the checksum of a single upload', async () => {
    const { body } = await calls.call('POST', '/bucket/key?uploads', {
      headers: { 'x-amz-checksum-algorithm': 'SHA256' },
    });
    const target = `/bucket/key?uploadId=${/<UploadId>(.*)<\/UploadId>/.exec(body)?.[1] ?? ''}`;
    const { headers } = await calls.call('PUT', `${target}&partNumber=1`, { body: 'x', headers: shaOfX });
    const sum = `<ChecksumSHA256>${headers['x-amz-checksum-sha256'] ?? ''}</ChecksumSHA256>`;
    const part = `<Part><PartNumber>1</PartNumber><ETag>${headers['etag'] ?? ''}</ETag>${sum}</Part>`;
    await calls.call('POST', target, { body: `<CompleteMultipartUpload>${part}</CompleteMultipartUpload>` });
    await copy({ 'x-amz-metadata-directive': 'REPLACE', 'x-amz-meta-a': 'b' }, 'key');
    const mode = { headers: { 'x-amz-checksum-mode': 'ENABLED' } };
    expect((await calls.call('HEAD', '/bucket/key', mode)).headers).toMatchObject({
      etag: '"9dd4e461268c8034f5c8564e155c67a6"',
      'x-amz-checksum-sha256': headers['x-amz-checksum-sha256'],
      'x-amz-checksum-type': 'FULL_OBJECT',
      'x-amz-meta-a': 'b',
    });
  });
});

describe('the storage class of a copy', () => {
  const reduced = { 'x-amz-storage-class': 'REDUCED_REDUNDANCY' };
  const standard = { 'x-amz-storage-class': 'STANDARD' };

  it.each<[Headers, Headers, string | undefined]>([
    [reduced, {}, undefined],
    [reduced, { 'x-amz-metadata-directive': 'REPLACE' }, undefined],
    [reduced, standard, undefined],
    [{}, reduced, 'REDUCED_REDUNDANCY'],
    [{}, { ...reduced, 'x-amz-metadata-directive': 'REPLACE' }, 'REDUCED_REDUNDANCY'],
  ])('is that of its request: %o copied with %o', async (source, headers, expected) => {
    await put(source);
    expect(await copy(headers)).toMatchObject({ status: 200 });
    expect((await head('copy'))['x-amz-storage-class']).toBe(expected);
  });

  it('changes by a copy of the object onto itself', async () => {
    await put(reduced);
    expect(await copy(standard, 'key')).toMatchObject({ status: 200 });
    expect(await head()).not.toHaveProperty('x-amz-storage-class');
  });
});

const owner = 'The bucket does not belong to the owner that the request expects.';
const sizes = (size: number, max: number) => `<Size>${size}</Size><MaxSizeAllowed>${max}</MaxSizeAllowed>`;
const onItself = 'This copy request is illegal because it is trying to copy an object to itself';

/** Requests that S3 refuses, with what it answers. */
describe.each<
  [send: (headers: Headers) => Promise<Reply>, headers: Headers, status: number, code: string, xml: string]
>([
  ...[put, copy, (headers: Headers) => calls.call('POST', '/bucket/key?uploads', { headers })].flatMap(
    (send): [(headers: Headers) => Promise<Reply>, Headers, number, string, string][] => [
      [send, { [redirect]: 'page' }, 400, 'InvalidRedirectLocation', prefixes],
      [send, { [redirect]: '' }, 400, 'InvalidRedirectLocation', prefixes],
      [send, { [redirect]: 'javascript:alert(1)' }, 400, 'InvalidRedirectLocation', prefixes],
      [send, { [redirect]: `/${'x'.repeat(2_048)}` }, 400, 'InvalidRedirectLocation', 'exceed 2,048 characters'],
      [send, { 'x-amz-storage-class': 'GLACIER' }, 400, 'InvalidStorageClass', ''],
      [send, { 'x-amz-storage-class': 'standard' }, 400, 'InvalidStorageClass', ''],
      [send, { 'x-amz-storage-class': '' }, 400, 'InvalidStorageClass', ''],
      [send, { 'x-amz-meta-a': 'x'.repeat(2_048) }, 400, 'MetadataTooLarge', sizes(2_049, 2_048)],
      [send, { 'cache-control': 'x'.repeat(9_000) }, 400, 'RequestHeaderSectionTooLarge', '<MaxSizeAllowed>8192<'],
      [send, { 'x-amz-expected-bucket-owner': '123456789012' }, 403, 'AccessDenied', owner],
    ],
  ),
  [put, { 'x-amz-write-offset-bytes': '1' }, 501, 'NotImplemented', 'The header x-amz-write-offset-bytes'],
  [copy, { 'x-amz-source-expected-bucket-owner': '123456789012' }, 403, 'AccessDenied', owner],
  [copy, { 'x-amz-metadata-directive': 'replace' }, 400, 'InvalidArgument', 'Unknown metadata directive.'],
  [copy, { 'x-amz-metadata-directive': '' }, 400, 'InvalidArgument', 'x-amz-metadata-directive'],
  [(headers) => copy(headers, 'key'), {}, 400, 'InvalidRequest', onItself],
  [(headers) => copy(headers, 'key'), { 'x-amz-metadata-directive': 'COPY' }, 400, 'InvalidRequest', onItself],
])('%o with %o', (send, headers, status, code, xml) => {
  it(`is refused with ${status} ${code}`, async () => {
    await calls.call('PUT', '/bucket/key', { body: 'content' });
    const reply = await send(headers);
    expect([reply.status, reply.code]).toEqual([status, code]);
    expect(reply.refusal).toContain(`<Code>${code}</Code>`);
    expect(reply.refusal).toContain(xml);
    expect((await calls.call('GET', '/bucket/key')).body).toBe('content');
  });
});
