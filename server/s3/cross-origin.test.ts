import { describe, expect, it } from 'vitest';
import { incomingRequest, testCalls } from '../../test/support/s3-api/s3-calls.ts';
import { CrossOrigin } from './cross-origin.ts';

const page = 'https://app.example';
const rule = (content: string) => `<CORSConfiguration><CORSRule>${content}</CORSRule></CORSConfiguration>`;
const fromPage = `<AllowedOrigin>${page}</AllowedOrigin>`;
const methods = '<AllowedMethod>GET</AllowedMethod><AllowedMethod>PUT</AllowedMethod>';
const ask = (origin: string, method = 'PUT', headers = '') => ({
  origin,
  'access-control-request-method': method,
  ...(headers !== '' && { 'access-control-request-headers': headers }),
});

async function withRules(content: string, origins: readonly string[] = ['*']) {
  const test = await testCalls({ origins });
  expect(await test.call('PUT', '/bucket?cors', { body: rule(content) })).toMatchObject({ status: 200 });
  return test;
}

describe('a preflight', () => {
  it('is answered for the origin, methods and headers of a rule', async () => {
    const { call } = await withRules(
      `${fromPage}${methods}<AllowedHeader>x-amz-*</AllowedHeader><ExposeHeader>ETag</ExposeHeader><MaxAgeSeconds>60</MaxAgeSeconds>`,
    );
    expect(await call('OPTIONS', '/bucket/key', { headers: ask(page, 'PUT', 'X-Amz-Date,x-amz-acl') })).toMatchObject({
      status: 200,
      body: '',
      headers: {
        'access-control-allow-origin': page,
        'access-control-allow-methods': 'GET, PUT',
        'access-control-allow-headers': 'x-amz-date, x-amz-acl',
        'access-control-expose-headers': 'ETag',
        'access-control-max-age': '60',
        'access-control-allow-credentials': 'true',
        vary: 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method',
      },
    });
  });

  it('allows no credentials by a rule for every origin', async () => {
    const { call } = await withRules(`<AllowedOrigin>*</AllowedOrigin>${methods}`);
    const { headers } = await call('OPTIONS', '/bucket/key', { headers: ask(page) });
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
  });

  it.each([
    ['another origin', ask('https://evil.example')],
    ['another method', ask(page, 'DELETE')],
    ['a header of no rule', ask(page, 'PUT', 'x-amz-date, authorization')],
    ['more headers than a page can mean', ask(page, 'PUT', 'x-amz-a,'.repeat(101))],
  ])('is refused for %s', async (_, headers) => {
    const { call } = await withRules(`${fromPage}${methods}<AllowedHeader>x-amz-*</AllowedHeader>`);
    const rejected = await call('OPTIONS', '/bucket/key', { headers });
    expect(rejected).toMatchObject({ status: 403, code: 'AccessForbidden' });
    expect(rejected.body).toBe(
      'CORSResponse: This CORS request is not allowed. This is usually because the evalution of Origin, request method / ' +
        "Access-Control-Request-Method or Access-Control-Request-Headers are not whitelisted by the resource's CORS spec.",
    );
    expect(rejected.refusal).toContain(
      `<Method>${headers['access-control-request-method']}</Method><ResourceType>OBJECT</ResourceType>`,
    );
    expect(rejected.headers).not.toHaveProperty('access-control-allow-origin');
  });

  it.each([
    [{}, 'Insufficient information. Origin request header needed.'],
    [{ origin: page }, 'Invalid Access-Control-Request-Method: null'],
    [ask(page, 'put'), 'Invalid Access-Control-Request-Method: put'],
    [{ origin: page, 'access-control-request-method': 'PATCH' }, 'Invalid Access-Control-Request-Method: PATCH'],
  ])('needs its headers: %j', async (headers, message) => {
    const { call } = await withRules(`${fromPage}${methods}`);
    expect(await call('OPTIONS', '/bucket/key', { headers })).toMatchObject({
      status: 400,
      code: 'BadRequest',
      body: message,
    });
  });

  it('tells nothing about a bucket without rules, or without existence', async () => {
    const { call } = await testCalls();
    const [there, missing] = [
      await call('OPTIONS', '/bucket/key', { headers: ask(page) }),
      await call('OPTIONS', '/absent/key', { headers: ask(page) }),
    ];
    expect(there).toMatchObject({
      status: 403,
      code: 'AccessForbidden',
      body: 'CORSResponse: CORS is not enabled for this bucket.',
    });
    expect(missing).toEqual({ ...there, refusal: there.refusal.replace('/bucket/', '/absent/') });
  });

  it('is decided by the setting where the bucket has no rules', async () => {
    const { call } = await testCalls({ origins: [page, 'https://*.b.example'] });
    for (const path of ['/bucket/key', '/absent/key', '/']) {
      const from = (origin: string) => call('OPTIONS', path, { headers: ask(origin, 'DELETE', 'Authorization,x-a') });
      expect(await from('https://a.b.example')).toMatchObject({
        status: 200,
        headers: {
          'access-control-allow-origin': 'https://a.b.example',
          'access-control-allow-methods': 'GET, PUT, HEAD, POST, DELETE',
          'access-control-allow-headers': 'authorization, x-a',
        },
      });
      expect(await from('https://evil.example')).toMatchObject({ status: 403, code: 'AccessForbidden' });
    }
  });

  it('is decided by the rules of the bucket, whatever the setting allows', async () => {
    const { call } = await withRules(`${fromPage}${methods}`, ['*']);
    expect(await call('OPTIONS', '/bucket/key', { headers: ask('https://evil.example') })).toMatchObject({
      status: 403,
    });
    expect(await call('DELETE', '/bucket?cors')).toMatchObject({ status: 204 });
    expect(await call('OPTIONS', '/bucket/key', { headers: ask('https://evil.example') })).toMatchObject({
      status: 200,
    });
  });

  it('reads neither a signature nor a body', async () => {
    const { call } = await testCalls({
      origins: ['*'],
      authenticate: () => Promise.reject(new Error('not to be called')),
    });
    expect(await call('OPTIONS', '/bucket/key', { headers: ask(page), body: 'x' })).toMatchObject({
      status: 200,
      bytesRead: 0,
    });
  });
});

async function headersOf(
  content: string,
  request: { method?: string; path?: string; headers?: Record<string, string> },
): Promise<Readonly<Record<string, string>>> {
  const { layer } = await withRules(content);
  const { method = 'GET', path = '/bucket/key', headers = { origin: page } } = request;
  return new CrossOrigin(layer, ['*']).headersOf(incomingRequest(method, path, { headers }));
}

describe('the headers of an answer', () => {
  it('allow the origin of a rule', async () => {
    expect(await headersOf(`${fromPage}${methods}<ExposeHeader>ETag</ExposeHeader>`, {})).toEqual({
      'access-control-allow-origin': page,
      'access-control-allow-methods': 'GET, PUT',
      'access-control-expose-headers': 'ETag',
      'access-control-allow-credentials': 'true',
      vary: 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method',
    });
  });

  it('allow nothing else, and tell caches to keep the answers of origins apart', async () => {
    for (const request of [{ headers: { origin: 'https://evil.example' } }, { method: 'DELETE' }]) {
      expect(await headersOf(`${fromPage}${methods}`, request)).toEqual({ vary: expect.stringContaining('Origin') });
    }
  });

  it('do not depend on the headers of the request', async () => {
    const headers = { origin: page, 'x-amz-anything': 'x' };
    expect(await headersOf(`${fromPage}${methods}`, { headers })).toHaveProperty('access-control-allow-origin');
  });

  it('allow no credentials for STS, which knows client certificates', async () => {
    const headers = await headersOf(`${fromPage}${methods}`, { method: 'POST', path: '/' });
    expect(headers['access-control-allow-origin']).toBe(page);
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
  });

  it.each([
    ['GET', '/minio/admin/v3/info'],
    ['OPTIONS', '/bucket/key'],
  ])('are none for %s %s', async (method, path) => {
    expect(await headersOf(`${fromPage}${methods}`, { method, path })).toEqual({});
  });

  it('allow nothing when the bucket cannot be read', async () => {
    const broken = new CrossOrigin({ getBucketCors: () => Promise.reject(new Error('away')) }, ['*']);
    const request = incomingRequest('GET', '/bucket/key', { headers: { origin: page } });
    expect(await broken.headersOf(request)).toEqual({ vary: expect.any(String) });
  });
});

describe('the configuration of a bucket', () => {
  it('is stored, answered and removed', async () => {
    const { call } = await withRules(`<ID>a</ID>${fromPage}${methods}`);
    expect((await call('GET', '/bucket?cors')).body).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n<CORSConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><CORSRule>' +
        `<ID>a</ID>${methods}${fromPage}</CORSRule></CORSConfiguration>`,
    );
    expect(await call('DELETE', '/bucket?cors')).toMatchObject({ status: 204 });
    expect(await call('GET', '/bucket?cors')).toMatchObject({ status: 404, code: 'NoSuchCORSConfiguration' });
    expect(await call('DELETE', '/bucket?cors')).toMatchObject({ status: 204 });
  });

  it.each([
    ['GET', 's3:GetBucketCORS'],
    ['PUT', 's3:PutBucketCORS'],
    ['DELETE', 's3:PutBucketCORS'],
  ])('needs for %s the right %s', async (method, action) => {
    const { call } = await testCalls({ authorize: (request) => request.action !== action });
    const rejected = await call(method, '/bucket?cors', { body: 'x' });
    expect(rejected).toMatchObject({ status: 403, code: 'AccessDenied', bytesRead: 0 });
    expect(await call(method, '/absent?cors', { body: 'x' })).toMatchObject({ status: 403, code: 'AccessDenied' });
  });

  it.each(['GET', 'PUT', 'DELETE'])('cannot be that of an absent bucket (%s)', async (method) => {
    const { call } = await testCalls();
    const body = rule(`${fromPage}${methods}`);
    expect(await call(method, '/absent?cors', { body })).toMatchObject({ status: 404, code: 'NoSuchBucket' });
  });

  it('is compared with the checksum that came with it', async () => {
    const { call } = await testCalls();
    const headers = { 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' };
    const answer = await call('PUT', '/bucket?cors', { body: rule(`${fromPage}${methods}`), headers });
    expect(answer).toMatchObject({ status: 400, code: 'BadDigest' });
  });
});

describe('below the name of a bucket', () => {
  const domains = ['s3.example.com'];
  const host = 'bucket.s3.example.com';

  it('the configuration of that bucket decides, for every path', async () => {
    const test = await testCalls({ origins: [], domains });
    await test.call('PUT', '/bucket?cors', { body: rule(`${fromPage}${methods}`) });
    for (const path of ['/', '/key', '/other/key', '/minio/admin/v3/info']) {
      expect(await test.call('OPTIONS', path, { headers: { ...ask(page), host } })).toMatchObject({ status: 200 });
      const crossOrigin = new CrossOrigin(test.layer, []);
      const request = incomingRequest('GET', path, { headers: { origin: page, host } });
      const headers = await crossOrigin.headersOf({ ...request, hostStyle: { kind: 'bucket', bucket: 'bucket' } });
      expect(headers).toMatchObject({ 'access-control-allow-origin': page });
    }
  });
});

describe('a configuration without a rule', () => {
  it('is stored, and allows no page what the setting of the server allows', async () => {
    const { call } = await testCalls({ origins: ['*'] });
    expect(await call('PUT', '/bucket?cors', { body: '<CORSConfiguration/>' })).toMatchObject({ status: 200 });
    expect(await call('GET', '/bucket?cors')).toMatchObject({
      status: 200,
      body: expect.not.stringContaining('CORSRule'),
    });
    const headers = { origin: 'https://page.example', 'access-control-request-method': 'GET' };
    expect(await call('OPTIONS', '/bucket/key', { headers })).toMatchObject({ status: 403 });
  });
});
