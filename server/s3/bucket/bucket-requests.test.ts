import { describe, expect, it } from 'vitest';
import { parseBucketPolicy } from '../../../protocol/policy/parse-policy.ts';
import { authorize } from '../../auth/authorize.ts';
import type { Principal } from '../../auth/principal.ts';
import { put } from '../../../test/support/objects/test-layer.ts';
import { testCalls } from '../../../test/support/s3-api/s3-calls.ts';

/** Lists the buckets as a caller who may do what `allows` says. */
const narrow = async (allows: (action: string, resource: string) => boolean, kind: Principal['kind'] = 'user') => {
  const principal = { kind, accessKey: 'ann', subject: { kind: 'user', name: 'ann' } } as Principal;
  const { call, layer } = await testCalls({
    authenticate: (request) => Promise.resolve({ principal, body: request.body, size: 0 }),
    authorize: ({ action, resource }) => allows(action, resource),
  });
  for (const name of ['aaa', 'mmm', 'zzz']) await layer.createBucket(name, { location: '' });
  return async (query = '') => {
    const { code, body } = await call('GET', `/${query}`);
    return code ?? [...body.matchAll(/<Name>([^<]*)/g)].map(([, name]) => name).join(' ');
  };
};

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

  it('gives the regions of buckets to clients that ask for a part of them', async () => {
    const { call } = await testCalls();
    expect((await call('GET', '/')).body).not.toContain('BucketRegion');
    for (const query of ['max-buckets=10', 'prefix=b', 'bucket-region=us-east-1']) {
      expect((await call('GET', `/?${query}`)).body).toContain('<BucketRegion>us-east-1</BucketRegion>');
    }
    const { body } = await call('GET', '/?prefix=buc&max-buckets=1');
    expect(body).toContain('<Prefix>buc</Prefix>');
    expect((await call('GET', '/?prefix=x')).body).not.toContain('<Name>');
  });

  it('gives a caller the buckets that they may list or find, by pages too', async () => {
    const list = await narrow(
      (action, resource) =>
        (action === 's3:ListBucket' && resource === 'mmm') || (action === 's3:GetBucketLocation' && resource === 'zzz'),
    );
    expect(await list()).toBe('mmm zzz');
    expect(await list('?max-buckets=1')).toBe('mmm');
    expect(await list('?prefix=z')).toBe('zzz');
    expect(await list('?prefix=a')).toBe('AccessDenied');
    expect(await (await narrow((action) => action === 's3:ListAllMyBuckets'))()).toBe('aaa bucket mmm zzz');
    expect(await (await narrow(() => false))()).toBe('AccessDenied');
  });

  it('gives a caller a bucket that they may list below some prefix', async () => {
    const statement = {
      Effect: 'Allow',
      Principal: '*',
      Action: 's3:ListBucket',
      Resource: 'arn:aws:s3:::bucket',
      Condition: { StringLike: { 's3:prefix': 'home/ann/*' } },
    };
    const policy = parseBucketPolicy(JSON.stringify({ Version: '2012-10-17', Statement: [statement] }), 'bucket');
    const holders = {
      policiesOf: () => Promise.resolve([]),
      groupsOf: () => Promise.resolve([]),
      policy: () => Promise.resolve(undefined),
    };
    const sources = {
      bucketAccess: (bucket: string) => Promise.resolve(bucket === 'bucket' ? { policy } : undefined),
      objectTags: () => Promise.resolve(undefined),
      objectAcl: () => Promise.resolve(undefined),
    };
    const principal: Principal = { kind: 'user', accessKey: 'ann', subject: { kind: 'user', name: 'ann' } };
    const { call, layer } = await testCalls({
      authenticate: (request) => Promise.resolve({ principal, body: request.body, size: 0 }),
      authorize: async (asked) => (await authorize(asked, holders, sources)).kind === 'allow',
    });
    await layer.createBucket('other', { location: '' });
    expect((await call('GET', '/')).body).toMatch(/^(?:(?!<Name>).)*<Name>bucket<\/Name>(?:(?!<Name>).)*$/s);
    expect((await call('GET', '/?prefix=b')).body).toContain('<Name>bucket</Name>');
  });

  it('gives an anonymous caller none, whatever is public', async () => {
    expect(await (await narrow((action) => action === 's3:ListBucket', 'anonymous'))()).toBe('AccessDenied');
  });

  it('gives the buckets of a region', async () => {
    const { call } = await testCalls();
    expect((await call('GET', '/?bucket-region=us-east-1')).body).toContain('<Name>bucket</Name>');
    expect((await call('GET', '/?bucket-region=eu-central-1')).body).not.toContain('<Name>');
  });
});

describe('PutBucketNotificationConfiguration', () => {
  it('takes the empty configuration', async () => {
    const { call } = await testCalls();
    for (const body of ['<NotificationConfiguration/>', '<NotificationConfiguration></NotificationConfiguration>']) {
      expect(await call('PUT', '/bucket?notification', { body })).toMatchObject({ status: 200, body: '' });
    }
    const { body } = await call('GET', '/bucket?notification');
    expect(body).toMatch(/<NotificationConfiguration[^>]*(?:\/>|><\/NotificationConfiguration>)/);
  });

  it.each([
    [
      '/bucket',
      '<NotificationConfiguration><EventBridgeConfiguration/></NotificationConfiguration>',
      'UnsupportedNotification',
    ],
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
