import * as fc from 'fast-check';
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { presignUrl } from '../../protocol/sigv4/sign-request.ts';
import { createAuthenticator } from '../auth/access.ts';
import type { StoredCredentials } from '../auth/principal.ts';
import { testCalls } from '../../test/support/s3-api/s3-calls.ts';
import { createHostStyleFinder, possibleBucketOf } from '../http/contract/host-style.ts';

const root: StoredCredentials = {
  accessKey: 'root',
  secretKey: 'root-password',
  principal: { kind: 'root', accessKey: 'root' },
};

const presigned = 'X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-SignedHeaders=host&X-Amz-Signature=0';
const sha256 = encodeURIComponent(createHash('sha256').update('hello').digest('base64'));

async function put(query: string, body: string, headers: Record<string, string> = {}) {
  const test = await testCalls();
  const { code, body: said } = await test.call('PUT', `/bucket/key?${query}`, { body, headers });
  return { code, said, head: () => test.call('HEAD', '/bucket/key') };
}

describe('a header in the query of a presigned URL', () => {
  it.each([
    ['x-amz-checksum-sha256', sha256],
    ['X-Amz-Checksum-Sha256', sha256],
    ['x-amz-server-side-encryption', 'nonsense'],
  ])('%s is honoured', async (name, value) => {
    const asHeader = await put('', 'HELLO', { [name.toLowerCase()]: decodeURIComponent(value) });
    expect(asHeader.code).toBeDefined();
    expect((await put(`${presigned}&${name}=${value}`, 'HELLO')).code).toBe(asHeader.code);
  });

  it('is the object’s metadata', async () => {
    const { code, head } = await put(`${presigned}&x-amz-meta-colour=gr%C3%BCn`, 'hello');
    expect(code).toBeUndefined();
    expect((await head()).headers['x-amz-meta-colour']).toBe(`=?UTF-8?B?${Buffer.from('grün').toString('base64')}?=`);
  });

  it.each(['x-amz-checksum-crc32=AAAAAA==&x-amz-sdk-checksum-algorithm=CRC32', 'x-amz-sdk-checksum-algorithm=SHA256'])(
    'says nothing of a body that was not there when the URL was made: %s',
    async (query) => {
      expect((await put(`${presigned}&${query}`, 'hello')).code).toBeUndefined();
    },
  );

  it('makes a copy', async () => {
    const { code } = await put(`${presigned}&x-amz-copy-source=%2Fbucket%2Fmissing`, '');
    expect(code).toBe('NoSuchKey');
  });

  it.each([
    ['that differs from the header', 'x-amz-meta-a=b', { 'x-amz-meta-a': 'c' }, 'is given twice'],
    ['that is given in two ways', 'x-amz-meta-a=b&X-Amz-Meta-A=c', {}, 'is given twice'],
    ['with a line end', 'x-amz-meta-a=b%0D%0Ac:d', {}, 'control characters'],
    ['with a key', 'x-amz-server-side-encryption-customer-key=AAAA', {}, 'must be sent as a header'],
  ])('%s is refused', async (_what, query, headers, why) => {
    const { code, said } = await put(`${presigned}&${query}`, 'hello', headers);
    expect(code).toBe('InvalidRequest');
    expect(said).toContain(why);
  });

  it.each([
    ['a trailer that cannot come', 'x-amz-trailer=x-amz-checksum-crc32', 'MalformedTrailerError'],
    [
      'a trailer that is no checksum',
      'X-Amz-Content-Sha256=STREAMING-UNSIGNED-PAYLOAD-TRAILER&x-amz-decoded-content-length=5&x-amz-trailer=x-amz-meta-a',
      'InvalidRequest',
    ],
  ])('that announces %s is refused as the header is', async (_what, query, code) => {
    const authenticate = createAuthenticator({ credentials: { credentials: () => Promise.resolve(root) } });
    const test = await testCalls({ authenticate });
    const options = { region: 'us-east-1', service: 's3', now: new Date(), expires: 60, method: 'PUT' } as const;
    const [, hash] = /X-Amz-Content-Sha256=([^&]*)/.exec(query) ?? [];
    const { pathname, search } = presignUrl(
      new URL(`http://test/bucket/key?${query.replace(/X-Amz-Content[^&]*&/, '')}`),
      root,
      {
        ...options,
        ...(hash !== undefined && { payloadHash: hash }),
      },
    );
    expect((await test.call('PUT', `${pathname}${search}`, { body: 'hello' })).code).toBe(code);
    expect((await test.call('HEAD', '/bucket/key')).status).not.toBe(200);
  });

  it('is ignored without a signature there, as S3 does', async () => {
    expect((await put(`x-amz-checksum-sha256=${sha256}`, 'HELLO')).code).toBeUndefined();
  });
});

describe('a host', () => {
  const find = createHostStyleFinder(
    ['s3.example.com', 'example.com', 'Storage.Example.org:9000'],
    ['api.example.com'],
  );

  it.each([
    undefined,
    '',
    'localhost',
    'localhost:9000',
    '127.0.0.1:9000',
    '[::1]:9000',
    '[2001:db8::1]',
    '::1',
    's3.example.com',
    'S3.EXAMPLE.COM:443',
    's3.example.com.',
    's3.example.com.:9000',
    'api.example.com',
    'minio.example.com',
    'storage.example.org',
    'minio',
    'minio:9000',
    's3.other.net',
    'demo.team.svc.cluster.local',
    'xs3.example.org',
  ])('%j is for path style', (host) => {
    expect(find(host)).toBeUndefined();
    // The answer is cached.
    expect(find(host)).toBeUndefined();
  });

  it.each([
    ['photos.s3.example.com', 'photos'],
    ['a.b.S3.example.com:9000', 'a.b'],
    ['PHOTOS.s3.example.com.', 'photos'],
    ['photos.s3.example.com.:9000', 'photos'],
    ['photos.example.com', 'photos'],
    ['s3x.example.com', 's3x'],
    ['photos.storage.example.org', 'photos'],
    ['minio.s3.example.com.evil.example.com', 'minio.s3.example.com.evil'],
    ['.s3.example.com', ''],
    ['health.example.com', 'health'],
  ])('%s names the bucket %j', (host, bucket) => {
    expect(find(host)).toEqual({ kind: 'bucket', bucket });
    expect(find(host)).toEqual({ kind: 'bucket', bucket });
  });

  it.each([
    ['bucket.localhost:9000', 'localhost'],
    ['bucket.files.other.net', 'files.other.net'],
  ])('%s names a bucket below %s, where no virtual hosts are', (host, domain) => {
    const style = createHostStyleFinder([], ['files.other.net:9000'])(host);
    expect(style).toEqual({ kind: 'unserved', issue: expect.stringContaining(`SVC_DOMAIN=${domain}`) as string });
  });

  it.each(['a.example.com, b.example.com', 'a.example.com/b', 'a b', 'gr\u00fcn.example.com', 'a.example.com?'])(
    '%j is refused',
    (host) => {
      expect(find(host)).toMatchObject({ kind: 'malformed' });
    },
  );

  it('below localhost is a bucket once localhost is a served name', () => {
    expect(createHostStyleFinder(['localhost'])('photos.localhost')).toEqual({ kind: 'bucket', bucket: 'photos' });
    expect(createHostStyleFinder(['s3.localhost'])('s3.localhost:9000')).toBeUndefined();
    expect(createHostStyleFinder(['s3.localhost'])('photos.localhost')).toMatchObject({ kind: 'unserved' });
  });

  it('is cached for a bounded number of names, and found without the cache', () => {
    for (let at = 0; at < 1_000; at += 1)
      expect(find(`b${at}.example.com`)).toEqual({ kind: 'bucket', bucket: `b${at}` });
  });

  it('that names a bucket is never for path style, whatever its case, port and dot', () => {
    const label = fc.stringMatching(/^[a-z0-9][a-z0-9-]{1,20}[a-z0-9]$/);
    const tail = fc.constantFrom('', '.', ':9000', '.:9000', ':');
    fc.assert(
      fc.property(label, tail, fc.boolean(), (bucket, end, upper) => {
        fc.pre(bucket !== 'minio');
        const name = `${bucket}.storage.example.org`;
        expect(find(`${upper ? name.toUpperCase() : name}${end}`)).toEqual({ kind: 'bucket', bucket });
      }),
    );
  });

  it.each([
    ['photos.s3.example.com', 'photos'],
    ['photos.s3.example', 'photos'],
    ['photos.s3-eu.example', 'photos'],
    ['minio.example.com', undefined],
    ['demo.team.svc.cluster.local', undefined],
    ['127.0.0.1:9000', undefined],
    ['[::1]:9000', undefined],
    ['minio:9000', undefined],
    [undefined, undefined],
  ])('%j may name the bucket %j', (host, bucket) => {
    expect(possibleBucketOf(host, [])).toBe(bucket);
  });
});

describe('a request of virtual-host style', () => {
  const domains = ['s3.example.com'];
  const host = 'bucket.s3.example.com';

  it.each([
    ['/key', 'key'],
    ['/folder/key', 'folder/key'],
    ['/bucket/key', 'bucket/key'],
    ['//key', '/key'],
    ['/minio/health/live', 'minio/health/live'],
    ['/minio/admin/v3/info', 'minio/admin/v3/info'],
    ['/a%2Fb%20c', 'a/b c'],
  ])('has the whole path as its key: %s', async (target, key) => {
    const { call } = await testCalls({ domains });
    expect(await call('PUT', target, { headers: { host }, body: 'content' })).toMatchObject({ status: 200 });
    expect(await call('GET', target, { headers: { host } })).toMatchObject({ body: 'content' });
    const list = await call('GET', '/bucket?list-type=2');
    expect(list.body).toContain(`<Key>${key}</Key>`);
  });

  it('lists and makes the bucket of its host at /', async () => {
    const { call, layer } = await testCalls({ domains });
    expect((await call('GET', '/', { headers: { host } })).body).toContain('<Name>bucket</Name>');
    expect((await call('HEAD', '/', { headers: { host } })).status).toBe(200);
    const made = await call('PUT', '/', { headers: { host: 'a.b.s3.example.com' } });
    expect([made.status, made.headers['location']]).toEqual([200, '/a.b']);
    expect((await layer.listBuckets()).map(({ name }) => name)).toEqual(['a.b', 'bucket']);
    expect((await call('GET', '/', { headers: { host: 's3.example.com' } })).body).toContain('ListAllMyBucketsResult');
  });

  it.each([
    ['.s3.example.com', 'InvalidBucketName'],
    ['under_score.s3.example.com', 'InvalidBucketName'],
    ['x.s3.example.com', 'InvalidBucketName'],
    ['absent.s3.example.com', 'NoSuchBucket'],
  ])('is refused for the host %s: %s', async (other, code) => {
    const { call } = await testCalls({ domains });
    expect((await call('GET', '/bucket/key', { headers: { host: other } })).code).toBe(code);
  });

  it('is answered an error with the resource of path style', async () => {
    const { call } = await testCalls({ domains });
    const { refusal } = await call('GET', '/a/b', { headers: { host } });
    expect(refusal).toContain('<Resource>/bucket/a/b</Resource>');
  });

  it('does not read the host of a proxy', async () => {
    const { call } = await testCalls({ domains });
    const headers = { 'x-forwarded-host': 'other.s3.example.com', forwarded: 'host=other.s3.example.com', host };
    expect((await call('GET', '/', { headers })).body).toContain('<Name>bucket</Name>');
    expect((await call('GET', '/', { headers: { ...headers, host: 'test' } })).body).toContain('ListAllMyBuckets');
  });

  it.each([
    ['GET', '/key'],
    ['PUT', '/key'],
    ['PUT', '/folder/key'],
    ['DELETE', '/bucket/key'],
    ['GET', '/'],
  ])('is refused where there are no virtual hosts: %s %s', async (method, target) => {
    const { call } = await testCalls();
    const { status, code, body, bytesRead } = await call(method, target, {
      headers: { host: 'bucket.localhost' },
      body: 'x',
    });
    expect({ status, code, bytesRead }).toEqual({ status: 400, code: 'InvalidRequest', bytesRead: 0 });
    expect(body).toContain('Use path style: localhost/bucket/key');
  });

  it('makes no bucket', async () => {
    const { call, layer } = await testCalls();
    await call('PUT', '/x-of-a-client', { headers: { host: 'bucket.localhost' } });
    expect((await layer.listBuckets()).map(({ name }) => name)).toEqual(['bucket']);
  });

  it('makes no bucket where the host begins with the name of one', async () => {
    const { call } = await testCalls();
    const rejected = await call('PUT', '/made', { headers: { host: 'bucket.s3.example.com' } });
    expect(rejected).toMatchObject({ code: 'InvalidRequest', body: expect.stringContaining('SVC_DOMAIN') });
    expect(await call('PUT', '/made', { headers: { host: 'other.s3.example.com' } })).toMatchObject({ status: 200 });
  });

  it('reveals no bucket to a caller who may create none', async () => {
    const { call } = await testCalls({ authorize: () => false });
    const codes = await Promise.all(
      ['bucket', 'other'].map((name) => call('PUT', '/made', { headers: { host: `${name}.s3.example.com` } })),
    );
    expect(codes.map(({ code }) => code)).toEqual(['AccessDenied', 'AccessDenied']);
  });

  it('is path style where the host is a served name', async () => {
    const { call } = await testCalls({ servedNames: ['bucket.s3.example.com'] });
    expect(await call('PUT', '/made', { headers: { host: 'bucket.s3.example.com' } })).toMatchObject({ status: 200 });
  });
});
