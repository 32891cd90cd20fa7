import { describe, expect, it } from 'vitest';
import { createAddressStyleCheck, possibleBucketOf } from './address-style.ts';
import { testCalls } from './testing-calls.ts';

describe('a host', () => {
  const served = ['s3.example.com', 'Storage.Example.org:9000'];
  const check = createAddressStyleCheck(served);

  it.each([
    undefined,
    'localhost',
    'localhost:9000',
    '127.0.0.1:9000',
    '[::1]:9000',
    '[2001:db8::1]',
    's3.example.com',
    'S3.EXAMPLE.COM:443',
    's3.example.com.',
    'storage.example.org',
    'minio',
    'minio:9000',
    's3.other.net',
    'demo.team.svc.cluster.local',
    'xs3.example.com',
  ])('%j is for path style', (host) => {
    expect(check(host)).toBeUndefined();
  });

  it.each([
    ['photos.s3.example.com', 's3.example.com'],
    ['a.b.S3.example.com:9000', 's3.example.com'],
    ['photos.storage.example.org', 'storage.example.org'],
    ['bucket.localhost', 'localhost'],
    ['bucket.localhost:9000', 'localhost'],
  ])('%s names a bucket below %s', (host, domain) => {
    expect(check(host)).toContain(`names a bucket below "${domain}"`);
    // The answer is kept.
    expect(check(host)).toContain(`names a bucket below "${domain}"`);
  });

  it('below localhost is fine once it is a served name', () => {
    expect(createAddressStyleCheck(['s3.localhost'])('s3.localhost:9000')).toBeUndefined();
    expect(createAddressStyleCheck(['s3.localhost'])('photos.s3.localhost')).toContain('"s3.localhost"');
  });

  it('is remembered for a bounded number of names', () => {
    for (let at = 0; at < 1_000; at += 1) expect(check(`b${at}.localhost`)).toBeDefined();
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
  it.each([
    ['GET', '/key'],
    ['PUT', '/key'],
    ['PUT', '/folder/key'],
    ['DELETE', '/bucket/key'],
    ['GET', '/'],
  ])('is refused: %s %s', async (method, target) => {
    const { call } = await testCalls();
    const { status, code, body, bytesRead } = await call(method, target, {
      headers: { host: 'bucket.localhost' },
      body: 'x',
    });
    expect({ status, code, bytesRead }).toEqual({ status: 501, code: 'NotImplemented', bytesRead: 0 });
    expect(body).toContain('Use path style: localhost/bucket/key');
  });

  it('makes no bucket', async () => {
    const { call, layer } = await testCalls();
    await call('PUT', '/x-of-a-client', { headers: { host: 'bucket.localhost' } });
    expect((await layer.listBuckets()).map(({ name }) => name)).toEqual(['bucket']);
  });

  it('makes no bucket where the host begins with the name of one', async () => {
    const { call } = await testCalls();
    const refused = await call('PUT', '/made', { headers: { host: 'bucket.s3.example.com' } });
    expect(refused).toMatchObject({ code: 'InvalidRequest', body: expect.stringContaining('SVC_DOMAIN') });
    expect(await call('PUT', '/made', { headers: { host: 'other.s3.example.com' } })).toMatchObject({ status: 200 });
  });

  it('tells nothing of buckets to who may make none', async () => {
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
