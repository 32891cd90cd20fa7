import { describe, expect, it } from 'vitest';
import { type CallOptions, incomingRequest, testCalls } from '../../../test/support/s3-api/s3-calls.ts';
import { put } from '../../../test/support/objects/test-layer.ts';
import type { Website } from '../../../protocol/s3/bucket-website.ts';
import { answerWebsiteError } from './website-error.ts';
import { createWebsiteHandler } from './website-handler.ts';

const site: Website = { kind: 'site', indexSuffix: 'index.html', errorKey: 'error.html', rules: [] };
const cached = { cacheControl: 'max-age=60', expires: 'Sun, 01 Dec 2030 16:00:00 GMT' };
const hosted = { host: 'bucket.example.com:9001' };

/** The website of `bucket`. The anonymous caller may read everything but `secret/`. */
async function websiteTest(website: Website | undefined = site, options: { readonly mayList?: boolean } = {}) {
  const test = await testCalls({
    authenticate: async ({ body, headers }) => ({
      principal: headers.authorization === undefined ? { kind: 'anonymous' } : { kind: 'root', accessKey: 'root' },
      body,
      size: 0,
    }),
    authorize: ({ principal, action, resource }) =>
      principal.kind === 'root' ||
      (action === 's3:GetObject' && !resource.includes('secret/')) ||
      (action === 's3:ListBucket' && options.mayList !== false),
  });
  const { layer } = test;
  await layer.putBucketWebsite('bucket', website);
  for (const [key, text] of [
    ['index.html', 'home'],
    ['error.html', 'sorry'],
    ['docs/index.html', 'documents'],
    ['a page.html', 'a page'],
    ['secret/page.html', 'hidden'],
  ] as const) {
    await layer.putObject(put('bucket', key, text, { headers: { contentType: 'text/html', ...cached, metadata: {} } }));
  }
  const handle = createWebsiteHandler({ objects: layer, s3: test.api, domains: ['example.com'] });
  const call = async (method: string, target: string, headers: CallOptions['headers'] = hosted, secure = true) => {
    const request = incomingRequest(method, target, { headers, secure });
    const answer = await handle(request).catch((error: unknown) => answerWebsiteError(error, request));
    const body = answer.body.kind === 'bytes' ? answer.body.bytes.toString() : '';
    return { status: answer.status, headers: answer.headers, body };
  };
  const get = (target: string, headers?: CallOptions['headers'], secure?: boolean) =>
    call('GET', target, headers, secure);
  const redirect = async (target: string, headers?: CallOptions['headers'], secure?: boolean) => {
    const { status, headers: sent } = await get(target, headers, secure);
    return [status, sent['location']];
  };
  return { layer, call, get, redirect };
}

describe('a page', () => {
  it.each([
    ['/', 'home'],
    ['/index.html', 'home'],
    ['/docs/', 'documents'],
    ['/a%20page.html', 'a page'],
    ['/?versionId=none&response-content-type=x&acl', 'home'],
  ])('is read at %s', async (target, body) => {
    const { get } = await websiteTest();
    expect(await get(target)).toMatchObject({ status: 200, body, headers: { 'content-type': 'text/html' } });
  });

  it.each([
    ['below a domain', hosted, '/'],
    ['below localhost', { host: 'bucket.localhost:9001' }, '/'],
    ['by a host that is its name', { host: 'bucket' }, '/'],
    ['in the path, at an address', { host: '127.0.0.1:9001' }, '/bucket/'],
    ['in the path, at the domain', { host: 'example.com' }, '/bucket/'],
    ['in the path, at another name', { host: 'other.test' }, '/bucket/'],
  ])('is found where the bucket is named %s', async (_where, headers, target) => {
    const { get } = await websiteTest();
    expect(await get(target, headers)).toMatchObject({ status: 200, body: 'home' });
  });

  it('has no body for HEAD, and takes conditions and ranges', async () => {
    const { call, get } = await websiteTest();
    const head = await call('HEAD', '/');
    expect(head).toMatchObject({ status: 200, body: '', headers: { 'content-length': '4' } });
    const etag = head.headers['etag'] ?? '';
    const headers = { 'cache-control': cached.cacheControl, expires: cached.expires };
    expect(await get('/', { ...hosted, 'if-none-match': etag })).toMatchObject({ status: 304, body: '', headers });
    expect(await get('/', { ...hosted, 'if-match': '"other"' })).toMatchObject({ status: 412 });
    expect(await get('/', { ...hosted, range: 'bytes=1-2' })).toMatchObject({ status: 206, body: 'om' });
    expect(await get('/', { ...hosted, range: 'bytes=9-' })).toMatchObject({
      status: 416,
      headers: { 'content-range': 'bytes */4' },
    });
  });

  it('is read as an anonymous caller, whatever the credentials', async () => {
    const { get } = await websiteTest();
    const signed = { ...hosted, authorization: 'root', 'x-amz-date': 'now' };
    expect(await get('/secret/page.html', signed)).toMatchObject({ status: 403, body: 'sorry' });
  });

  it('is served for GET and HEAD alone', async () => {
    const { call } = await websiteTest();
    expect(await call('POST', '/')).toMatchObject({
      status: 405,
      headers: { 'x-amz-error-code': 'MethodNotAllowed' },
    });
  });
});

describe('an error', () => {
  it('has the document of the bucket, with its own status', async () => {
    const { get, call } = await websiteTest();
    expect(await get('/absent', { ...hosted, range: 'bytes=0-1' })).toMatchObject({ status: 404, body: 'sorry' });
    expect(await call('HEAD', '/absent')).toMatchObject({ status: 404, body: '' });
  });

  it('does not tell what is absent to a caller who may not list', async () => {
    const { get } = await websiteTest(site, { mayList: false });
    expect(await get('/absent')).toMatchObject({ status: 403, body: 'sorry' });
  });

  it('is a page without a document, with its text escaped', async () => {
    const { get } = await websiteTest({ kind: 'site', indexSuffix: 'index.html', rules: [] });
    const { status, headers, body } = await get('/%3Cscript%3E');
    expect({ status, headers }).toMatchObject({
      status: 404,
      headers: { 'content-type': 'text/html; charset=utf-8', 'x-amz-error-code': 'NoSuchKey' },
    });
    expect(body).toContain('<title>404 Not Found</title>');
    expect(body).toContain('<li>Key: &lt;script&gt;</li>');
    expect(body).not.toContain('<script>');
  });

  it('names both errors where the document is absent too', async () => {
    const { get } = await websiteTest({ kind: 'site', indexSuffix: 'index.html', errorKey: 'gone.html', rules: [] });
    const { status, body } = await get('/absent');
    expect(status).toBe(404);
    expect(body).toContain('Custom Error Document');
    expect(body).toContain('<li>Key: gone.html</li>');
  });

  it('says that there is no website, and not if there is a bucket', async () => {
    const { layer, get } = await websiteTest();
    await layer.createBucket('photos', { location: '' });
    for (const [host, target] of [
      ['NAME.example.com', '/'],
      ['NAME.localhost', '/x'],
      ['NAME', '/other/x'],
      ['127.0.0.1', '/NAME/x'],
    ] as const) {
      const answerOf = async (name: string) => {
        const answer = await get(target.replace('NAME', name), { host: host.replace('NAME', name) });
        return JSON.parse(JSON.stringify(answer).replaceAll(name, 'NAME')) as typeof answer;
      };
      const ofPrivate = await answerOf('photos');
      expect(ofPrivate, host).toMatchObject({
        status: 404,
        headers: { 'x-amz-error-code': 'NoSuchWebsiteConfiguration' },
      });
      expect(await answerOf('absent'), host).toEqual(ofPrivate);
    }
    expect(await get('/', { host: '127.0.0.1' })).toMatchObject({ status: 400 });
  });
});

describe('a redirect', () => {
  it.each([
    ['to a folder', '/docs', hosted, [302, '/docs/']],
    ['to a folder, with the bucket in the path', '/bucket/docs', { host: '127.0.0.1' }, [302, '/bucket/docs/']],
    ['to the root of a bucket in the path', '/bucket', { host: '127.0.0.1' }, [302, '/bucket/']],
  ] as const)('leads %s', async (_what, target, headers, expected) => {
    const { redirect } = await websiteTest();
    expect(await redirect(target, headers)).toEqual(expected);
  });

  it('to a folder never leads to another host', async () => {
    const { layer, redirect } = await websiteTest();
    await layer.putObject(put('bucket', '/evil.example/index.html', 'x'));
    expect(await redirect('//evil.example')).toEqual([302, '/%2Fevil.example/']);
  });

  it('of all requests keeps the path', async () => {
    const { redirect } = await websiteTest({ kind: 'redirect', hostName: 'other.test' });
    expect(await redirect('/a%20b/c')).toEqual([301, 'https://other.test/a%20b/c']);
    expect(await redirect('/x', hosted, false)).toEqual([301, 'http://other.test/x']);
  });

  it('of an object has its place', async () => {
    const { layer, redirect } = await websiteTest();
    for (const [key, websiteRedirect] of [
      ['old', '/new'],
      ['away', 'https://other.test/x'],
    ] as const) {
      await layer.putObject(put('bucket', key, 'x', { headers: { metadata: {}, websiteRedirect } }));
    }
    expect(await redirect('/old')).toEqual([301, '/new']);
    expect(await redirect('/bucket/old', { host: '127.0.0.1' })).toEqual([301, '/bucket/new']);
    expect(await redirect('/away')).toEqual([301, 'https://other.test/x']);
  });

  it.each([
    ['a prefix', { prefix: 'old/', replace: { kind: 'prefix', with: 'new/' } }, '/old/a b', [301, '/new/a%20b']],
    ['a prefix, by nothing', { prefix: 'old/', replace: { kind: 'prefix', with: '' } }, '/old/x', [301, '/x']],
    [
      'a prefix, by nothing, never to another host',
      { prefix: 'old/', replace: { kind: 'prefix', with: '' } },
      '/old//evil.example/x',
      [301, '/%2Fevil.example/x'],
    ],
    [
      'a prefix, by a slash, never to another host',
      { prefix: 'old/', replace: { kind: 'prefix', with: '/' } },
      '/old/evil.example/x',
      [301, '/%2Fevil.example/x'],
    ],
    ['a key', { prefix: 'old', replace: { kind: 'key', with: 'new#top' } }, '/old/x', [301, '/new#top']],
    ['a host', { prefix: 'old', hostName: 'other.test' }, '/old', [301, 'https://other.test/old']],
    ['a protocol', { prefix: 'old', protocol: 'http' }, '/old', [301, 'http://bucket.example.com:9001/old']],
    ['another status', { prefix: 'old', hostName: 'o.test', redirectCode: 307 }, '/old', [307, 'https://o.test/old']],
    [
      'an error',
      { prefix: '', errorCode: 404, replace: { kind: 'prefix', with: '#!/' } },
      '/absent',
      [301, '/#!/absent'],
    ],
    ['an error of another prefix', { prefix: 'x', errorCode: 404, hostName: 'o.test' }, '/absent', [404, undefined]],
    ['an error of another status', { prefix: '', errorCode: 403, hostName: 'o.test' }, '/absent', [404, undefined]],
    ['no error', { prefix: '', errorCode: 404, hostName: 'o.test' }, '/index.html', [200, undefined]],
  ] as const)('by a rule for %s', async (_what, rule, target, expected) => {
    const { redirect } = await websiteTest({ kind: 'site', indexSuffix: 'index.html', rules: [rule] });
    expect(await redirect(target)).toEqual(expected);
  });

  it('is by the first rule that applies', async () => {
    const rules = [
      { prefix: 'a/b', hostName: 'first.test' },
      { prefix: 'a', hostName: 'second.test' },
    ];
    const { redirect } = await websiteTest({ kind: 'site', indexSuffix: 'index.html', rules });
    expect(await redirect('/a/b')).toEqual([301, 'https://first.test/a/b']);
    expect(await redirect('/a')).toEqual([301, 'https://second.test/a']);
  });
});
