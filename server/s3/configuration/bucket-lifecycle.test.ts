import { describe, expect, it } from 'vitest';
import { testCalls } from '../../../test/support/s3-api/s3-calls.ts';

const minimum = 'x-amz-transition-default-minimum-object-size';
const now = Date.parse('2026-01-15T10:30:00Z');
const document = (inside: string) =>
  `<LifecycleConfiguration><Rule><ID>a b</ID><Status>Enabled</Status>${inside}</Rule></LifecycleConfiguration>`;
const logs = '<Filter><Prefix>logs/</Prefix></Filter>';
const expiring = document(`${logs}<Expiration><Days>3</Days></Expiration>`);
const aborting = document(
  `${logs}<AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation></AbortIncompleteMultipartUpload>`,
);

async function withRules(body: string) {
  const test = await testCalls({ layer: { clock: () => now } });
  expect(await test.call('PUT', '/bucket?lifecycle', { body })).toMatchObject({ status: 200, body: '' });
  return test;
}

describe('the lifecycle of a bucket', () => {
  it('is absent until it is put, and after it is deleted', async () => {
    const { call } = await withRules(expiring);
    expect(await call('GET', '/bucket?lifecycle')).toMatchObject({
      status: 200,
      body: expect.stringContaining(
        '<Rule><ID>a b</ID><Filter><Prefix>logs/</Prefix></Filter><Status>Enabled</Status><Expiration><Days>3</Days></Expiration></Rule>',
      ) as string,
    });
    expect(await call('DELETE', '/bucket?lifecycle')).toMatchObject({ status: 204 });
    expect(await call('GET', '/bucket?lifecycle')).toMatchObject({ status: 404, code: 'NoSuchLifecycleConfiguration' });
  });

  it.each([
    ['GET', ''],
    ['PUT', expiring],
    ['DELETE', ''],
  ])('of a bucket that does not exist: %s is NoSuchBucket', async (method, body) => {
    const { call } = await testCalls();
    expect(await call(method, '/absent?lifecycle', { body })).toMatchObject({ status: 404, code: 'NoSuchBucket' });
  });

  it.each([
    ['GET', 's3:GetLifecycleConfiguration'],
    ['PUT', 's3:PutLifecycleConfiguration'],
    ['DELETE', 's3:PutLifecycleConfiguration'],
  ])('%s needs %s, and reads nothing of the body without it', async (method, action) => {
    const { call } = await testCalls({ authorize: (request) => request.action !== action });
    const rejected = await call(method, '/bucket?lifecycle', { body: 'no XML' });
    expect(rejected).toMatchObject({ status: 403, code: 'AccessDenied', bytesRead: 0 });
  });

  it.each([
    ['all_storage_classes_128K', 'all_storage_classes_128K'],
    ['varies_by_storage_class', 'varies_by_storage_class'],
    [undefined, 'varies_by_storage_class'],
  ])('answers the minimum of transitions %s as %s', async (value, expected) => {
    const { call } = await testCalls();
    const headers: Record<string, string> = value === undefined ? {} : { [minimum]: value };
    const put = await call('PUT', '/bucket?lifecycle', { body: expiring, headers });
    const get = await call('GET', '/bucket?lifecycle');
    expect([put.headers[minimum], get.headers[minimum]]).toEqual([expected, expected]);
  });

  it('is refused with another minimum of transitions', async () => {
    const { call } = await testCalls();
    expect(await call('PUT', '/bucket?lifecycle', { body: expiring, headers: { [minimum]: '64K' } })).toMatchObject({
      status: 400,
      code: 'InvalidArgument',
    });
  });

  it('is refused above 512 KiB', async () => {
    const { call } = await testCalls();
    const body = `<LifecycleConfiguration>${' '.repeat(600_000)}</LifecycleConfiguration>`;
    expect(await call('PUT', '/bucket?lifecycle', { body })).toMatchObject({ status: 400, code: 'MalformedXML' });
  });
});

describe('answers about an object with an expiration', () => {
  const header = 'expiry-date="Mon, 19 Jan 2026 00:00:00 GMT", rule-id="a%20b"';

  it.each([
    ['PUT', '/bucket/logs/a', {}],
    ['GET', '/bucket/logs/old', {}],
    ['HEAD', '/bucket/logs/old', {}],
    ['PUT', '/bucket/logs/copy', { 'x-amz-copy-source': '/bucket/logs/old' }],
  ])('name it: %s %s', async (method, target, headers) => {
    const { call } = await withRules(expiring);
    await call('PUT', '/bucket/logs/old', { body: 'old' });
    const { status, headers: answered } = await call(method, target, {
      headers,
      ...(method === 'PUT' && { body: '' }),
    });
    expect({ status, expiration: answered['x-amz-expiration'] }).toEqual({ status: 200, expiration: header });
  });

  it('name none for an object of no rule', async () => {
    const { call } = await withRules(expiring);
    const { headers } = await call('PUT', '/bucket/other', { body: 'old' });
    expect(headers['x-amz-expiration']).toBeUndefined();
  });

  it('name the time when an upload is aborted', async () => {
    const { call } = await withRules(aborting);
    const expected = { 'x-amz-abort-date': 'Sat, 17 Jan 2026 00:00:00 GMT', 'x-amz-abort-rule-id': 'a%20b' };
    const created = await call('POST', '/bucket/logs/a?uploads');
    expect(created.headers).toMatchObject(expected);
    const [, uploadId] = /<UploadId>(.*)<\/UploadId>/.exec(created.body) ?? [];
    expect((await call('GET', `/bucket/logs/a?uploadId=${uploadId}`)).headers).toMatchObject(expected);
  });
});
