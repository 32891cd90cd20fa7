import { describe, expect, it } from 'vitest';
import { body, put } from '../../../test/support/objects/test-layer.ts';
import { testCalls, type TestCalls } from '../../../test/support/s3-api/s3-calls.ts';

const old = 'Sat, 01 Jan 2000 00:00:00 GMT';

async function withObject(options: Parameters<typeof testCalls>[0] = {}): Promise<TestCalls & { etag: string }> {
  const test = await testCalls(options);
  const { etag } = await test.layer.putObject(put('bucket', 'key', 'text'));
  return { ...test, etag };
}

async function exists({ layer }: TestCalls, key = 'key'): Promise<boolean> {
  return layer.headObject('bucket', key).then(
    () => true,
    () => false,
  );
}

const unlessEtag = (etag: string) => ({ body: 'y', headers: { 'if-none-match': etag } });

describe('DeleteObject under a condition', () => {
  it.each<Record<string, string>>([
    { 'if-match': '"0"' },
    { 'x-amz-if-match-size': '5' },
    { 'x-amz-if-match-last-modified-time': old },
    { 'if-match': '*', 'x-amz-if-match-size': '5' },
  ])('is refused where %o does not hold, and the object stays', async (headers) => {
    const test = await withObject();
    expect(await test.call('DELETE', '/bucket/key', { headers })).toMatchObject({
      status: 412,
      code: 'PreconditionFailed',
    });
    expect(await exists(test)).toBe(true);
  });

  it('deletes where all of its conditions hold', async () => {
    const test = await withObject();
    const { lastModified } = await test.layer.headObject('bucket', 'key');
    const headers = {
      'if-match': `"${test.etag}"`,
      'x-amz-if-match-size': '4',
      'x-amz-if-match-last-modified-time': lastModified.toUTCString(),
    };
    expect(await test.call('DELETE', '/bucket/key', { headers })).toMatchObject({ status: 204 });
    expect(await exists(test)).toBe(false);
  });

  it.each([
    [{ 'if-match': '*' }, { status: 404, code: 'NoSuchKey' }],
    [{ 'if-match': '"0"' }, { status: 404, code: 'NoSuchKey' }],
    [{ 'x-amz-if-match-size': '4' }, { status: 204 }],
    [{ 'x-amz-if-match-last-modified-time': old }, { status: 204 }],
  ])('answers an absent key and %o as S3 does', async (headers, answer) => {
    const { call } = await testCalls();
    expect(await call('DELETE', '/bucket/absent', { headers })).toMatchObject(answer);
  });

  it.each([
    [{ 'x-amz-if-match-size': 'many' }, 'InvalidArgument'],
    [{ 'x-amz-if-match-last-modified-time': 'yesterday' }, 'InvalidArgument'],
    [{ 'if-none-match': '*' }, 'NotImplemented'],
    [{ 'if-unmodified-since': old }, 'NotImplemented'],
  ])('refuses %o by name', async (headers, code) => {
    const test = await withObject();
    expect(await test.call('DELETE', '/bucket/key', { headers })).toMatchObject({ code });
    expect(await exists(test)).toBe(true);
  });

  it('requires the permission to read for conditions that reveal the object', async () => {
    const test = await withObject({ authorize: ({ action }) => action !== 's3:GetObject' });
    const conditions: Record<string, string>[] = [{ 'if-match': `"${test.etag}"` }, { 'x-amz-if-match-size': '4' }];
    for (const headers of conditions) {
      expect(await test.call('DELETE', '/bucket/key', { headers })).toMatchObject({ code: 'AccessDenied' });
    }
    expect(await test.call('DELETE', '/bucket/key', { headers: { 'if-match': '*' } })).toMatchObject({ status: 204 });
  });

  it('never deletes what was put meanwhile', async () => {
    const test = await withObject();
    const [deleted] = await Promise.all([
      test.call('DELETE', '/bucket/key', { headers: { 'if-match': `"${test.etag}"` } }),
      test.layer.putObject(put('bucket', 'key', 'later')),
    ]);
    expect([204, 412]).toContain(deleted.status);
    expect(String(await body(test.layer, 'bucket', 'key'))).toBe('later');
  });
});

describe('DeleteObjects under conditions', () => {
  it('deletes those whose conditions hold, and reports the others', async () => {
    const test = await testCalls();
    const keys = ['etag', 'quoted', 'size', 'time', 'wrong-etag', 'wrong-size', 'wrong-time', 'any'];
    const infos = await Promise.all(keys.map((key) => test.layer.putObject(put('bucket', key, 'text'))));
    const { etag = '', lastModified = new Date() } = infos[0] ?? {};
    const listed = [
      ['etag', `<ETag>${etag}</ETag>`],
      ['quoted', `<ETag>&quot;${etag}&quot;</ETag>`],
      ['size', '<Size>4</Size>'],
      ['time', `<LastModifiedTime>${lastModified.toUTCString()}</LastModifiedTime>`],
      ['wrong-etag', '<ETag>0</ETag>'],
      ['wrong-size', `<ETag>${etag}</ETag><Size>5</Size>`],
      ['wrong-time', `<LastModifiedTime>${old}</LastModifiedTime>`],
      ['any', '<ETag>*</ETag>'],
      ['absent', '<ETag>*</ETag>'],
    ];
    const objects = listed.map(([key, more]) => `<Object><Key>${key}</Key>${more}</Object>`).join('');
    const answer = await test.call('POST', '/bucket?delete', { body: `<Delete>${objects}</Delete>` });
    expect(answer.status).toBe(200);
    const errors = [...answer.body.matchAll(/<Error><Key>([^<]*)<\/Key><Code>([^<]*)/g)];
    expect(errors.map(([, key, code]) => [key, code])).toEqual([
      ['wrong-etag', 'PreconditionFailed'],
      ['wrong-size', 'PreconditionFailed'],
      ['wrong-time', 'PreconditionFailed'],
      ['absent', 'NoSuchKey'],
    ]);
    const left = await test.layer.listObjects({ bucket: 'bucket', prefix: '', delimiter: '', after: '', limit: 10 });
    expect(left.objects.map(({ key }) => key)).toEqual(['wrong-etag', 'wrong-size', 'wrong-time']);
  });

  it('needs the right to read, key by key', async () => {
    const test = await withObject({ authorize: ({ action }) => action !== 's3:GetObject' });
    const answer = await test.call('POST', '/bucket?delete', {
      body: '<Delete><Object><Key>key</Key><Size>4</Size></Object></Delete>',
    });
    expect(answer.body).toContain('<Code>AccessDenied</Code>');
    expect(await exists(test)).toBe(true);
  });

  it('refuses a size and a time that are none', async () => {
    const test = await withObject();
    for (const condition of ['<Size>many</Size>', '<LastModifiedTime>yesterday</LastModifiedTime>']) {
      const sent = { body: `<Delete><Object><Key>key</Key>${condition}</Object></Delete>` };
      expect(await test.call('POST', '/bucket?delete', sent)).toMatchObject({ code: 'MalformedXML' });
    }
  });
});

describe('CopyObject under a condition on its destination', () => {
  const source = { 'x-amz-copy-source': 'bucket/source' };

  it('of one ETag refuse the object that has it, and no other', async () => {
    const { call } = await testCalls();
    const { headers } = await call('PUT', '/bucket/key', { body: 'x' });
    const etag = headers['etag'] ?? '';
    for (const given of [etag, `"other", ${etag}`, `W/${etag}`]) {
      expect(await call('PUT', '/bucket/key', unlessEtag(given))).toMatchObject({
        status: 412,
        code: 'PreconditionFailed',
      });
    }
    expect((await call('GET', '/bucket/key')).body).toBe('x');
    expect(await call('PUT', '/bucket/absent', unlessEtag(etag))).toMatchObject({ status: 200 });
    expect(await call('PUT', '/bucket/key', unlessEtag('"other"'))).toMatchObject({ status: 200 });
    expect((await call('GET', '/bucket/key')).body).toBe('y');
  });

  it.each<Record<string, string>>([{ 'if-none-match': '*' }, { 'if-match': '"0"' }])(
    'is refused where %o does not hold',
    async (headers) => {
      const test = await withObject();
      await test.layer.putObject(put('bucket', 'source', 'other'));
      expect(await test.call('PUT', '/bucket/key', { headers: { ...source, ...headers } })).toMatchObject({
        code: 'PreconditionFailed',
      });
      expect(String(await body(test.layer, 'bucket', 'key'))).toBe('text');
    },
  );

  it('copies where it holds', async () => {
    const test = await withObject();
    await test.layer.putObject(put('bucket', 'source', 'other'));
    const headers = { ...source, 'if-match': `"${test.etag}"` };
    expect(await test.call('PUT', '/bucket/key', { headers })).toMatchObject({ status: 200, code: undefined });
    expect(String(await body(test.layer, 'bucket', 'key'))).toBe('other');
    const first = { ...source, 'if-none-match': '*' };
    expect(await test.call('PUT', '/bucket/new', { headers: first })).toMatchObject({ code: undefined });
    expect(await test.call('PUT', '/bucket/new', { headers: first })).toMatchObject({ code: 'PreconditionFailed' });
  });
});
