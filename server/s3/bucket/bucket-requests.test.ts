import { describe, expect, it } from 'vitest';
import { put } from '../../../test/support/objects/test-layer.ts';
import { testCalls } from '../../../test/support/s3-api/s3-calls.ts';

describe('ListBuckets', () => {
  it('gives as many as the client asks for, and the rest by its token', async () => {
    const { call, layer } = await testCalls();
    for (const name of ['aaa', 'zzz']) await layer.createBucket(name, { location: '' });
    const seen: string[] = [];
    let token = '';
    do {
      const { body } = await call('GET', `/?max-buckets=2&continuation-token=${token}`);
      seen.push([...body.matchAll(/<Name>([^<]*)/g)].map(([, name]) => name).join(' '));
      token = /<ContinuationToken>([^<]*)/.exec(body)?.[1] ?? '';
    } while (token !== '');
    expect(seen).toEqual(['aaa bucket', 'zzz']);
    expect((await call('GET', '/')).body).not.toContain('ContinuationToken');
  });

  it.each(['max-buckets=-1', 'max-buckets=0', 'max-buckets=10001', 'max-buckets=many', 'continuation-token=none'])(
    'refuses %s',
    async (query) => {
      const { call } = await testCalls();
      expect(await call('GET', `/?${query}`)).toMatchObject({ status: 400, code: 'InvalidArgument' });
    },
  );

  it('gives the buckets of a region', async () => {
    const { call } = await testCalls();
    expect((await call('GET', '/?bucket-region=us-east-1')).body).toContain('<Name>bucket</Name>');
    expect((await call('GET', '/?bucket-region=eu-central-1')).body).not.toContain('<Name>');
  });
});

describe('PutBucketNotificationConfiguration', () => {
  it('takes the empty configuration, which is what there is', async () => {
    const { call } = await testCalls();
    for (const body of ['<NotificationConfiguration/>', '<NotificationConfiguration></NotificationConfiguration>']) {
      expect(await call('PUT', '/bucket?notification', { body })).toMatchObject({ status: 200, body: '' });
    }
    const { body } = await call('GET', '/bucket?notification');
    expect(body).toMatch(/<NotificationConfiguration[^>]*(?:\/>|><\/NotificationConfiguration>)/);
  });

  it.each([
    ['/bucket', '<NotificationConfiguration><EventBridgeConfiguration/></NotificationConfiguration>', 'NotImplemented'],
    ['/bucket', '<Other/>', 'MalformedXML'],
    ['/absent', '<NotificationConfiguration/>', 'NoSuchBucket'],
  ])('refuses to put into %s %s', async (path, body, code) => {
    const { call } = await testCalls();
    expect(await call('PUT', `${path}?notification`, { body })).toMatchObject({ code });
  });
});

describe('CopyObject', () => {
  it('computes the checksum that is asked for instead of the source', async () => {
    const { call, layer } = await testCalls();
    await layer.putObject(put('bucket', 'source', 'text', { digests: { compute: 'CRC32' } }));
    const copy = (headers: Record<string, string>) =>
      call('PUT', '/bucket/copy', { headers: { 'x-amz-copy-source': 'bucket/source', ...headers } });
    expect((await copy({})).body).toContain('<ChecksumCRC32>');
    const { body } = await copy({ 'x-amz-checksum-algorithm': 'SHA256' });
    expect(body).toContain('<ChecksumSHA256>mC2ePrmW9VnmM/TRlN7zdh2Qn1o7ZH0ahR/q1nwyydE=</ChecksumSHA256>');
    expect((await layer.headObject('bucket', 'copy')).checksum?.algorithm).toBe('SHA256');
  });
});
