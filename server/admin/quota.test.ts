import { describe, expect, it } from 'vitest';
import { adminTest } from '../../test/support/admin/admin.ts';
import { put, testLayer } from '../../test/support/objects/test-layer.ts';

async function quotaTest() {
  const { layer } = testLayer();
  await layer.createBucket('b', { location: '' });
  return { layer, ...(await adminTest({ services: { buckets: layer } })) };
}

const body = (value: object) => ({ plain: JSON.stringify(value) });

describe('the quota of a bucket', () => {
  it.each([
    ['of older clients', { quota: 1_000, quotatype: 'hard' }],
    ['of newer clients', { quota: 1_000, size: 1_000, rate: 0, requests: 0, quotatype: 'hard' }],
    ['as a size alone', { size: 1_000, quotatype: 'hard' }],
  ])('is set in the form %s, and read', async (_form, sent) => {
    const { call } = await quotaTest();
    expect(await call('root', 'PUT', 'set-bucket-quota?bucket=b', body(sent))).toMatchObject({ status: 200 });
    expect((await call('root', 'GET', 'get-bucket-quota?bucket=b')).value).toEqual({
      quota: 1_000,
      size: 1_000,
      rate: 0,
      requests: 0,
      quotatype: 'hard',
    });
  });

  it('is cleared by zeros, and then is 0', async () => {
    const { call } = await quotaTest();
    await call('root', 'PUT', 'set-bucket-quota?bucket=b', body({ quota: 5, quotatype: 'hard' }));
    await call('root', 'PUT', 'set-bucket-quota?bucket=b', body({ quota: 0, size: 0, rate: 0, requests: 0 }));
    expect((await call('root', 'GET', 'get-bucket-quota?bucket=b')).value).toEqual({
      quota: 0,
      size: 0,
      rate: 0,
      requests: 0,
    });
  });

  it('is shown with what is used by a call of our own', async () => {
    const { call, layer } = await quotaTest();
    const shown = () => call('root', 'GET', '/minio/admin/coffer/v1/bucket-quota?bucket=b');
    expect((await shown()).value).toEqual({ quota: null });
    await layer.putObject(put('b', 'x', '123'));
    await layer.putBucketQuota('b', 5);
    expect((await shown()).value).toEqual({ quota: { bytes: 5, used: 3, counting: false } });
  });

  it.each([
    ['another type', { quota: 5, quotatype: 'fifo' }],
    ['a rate', { quota: 5, rate: 1 }],
    ['requests', { quota: 5, requests: 1 }],
    ['two sizes', { quota: 5, size: 6 }],
    ['a negative size', { quota: -5 }],
    ['a fraction', { quota: 0.5 }],
    ['an unknown field', { quota: 5, throttleRules: [] }],
  ])('is refused with %s, and changes nothing', async (_what, sent) => {
    const { call } = await quotaTest();
    expect(await call('root', 'PUT', 'set-bucket-quota?bucket=b', body(sent))).toMatchObject({ status: 400 });
    expect((await call('root', 'GET', 'get-bucket-quota?bucket=b')).value).toMatchObject({ quota: 0 });
  });

  it('of an absent bucket is refused', async () => {
    const { call } = await quotaTest();
    for (const [method, path] of [
      ['PUT', 'set-bucket-quota?bucket=c'],
      ['GET', 'get-bucket-quota?bucket=c'],
    ] as const) {
      expect(await call('root', method, path, body({ quota: 5 }))).toMatchObject({
        status: 404,
        value: { Code: 'NoSuchBucket' },
      });
    }
  });

  it('is neither set nor told without the right', async () => {
    const { call, identities } = await quotaTest();
    await identities.putUser({ accessKey: 'ann', secretKey: 'ann-password' });
    for (const [method, path] of [
      ['PUT', 'set-bucket-quota?bucket=c'],
      ['GET', 'get-bucket-quota?bucket=c'],
    ] as const) {
      expect(await call('ann', method, path, body({ quota: 5 }))).toMatchObject({ status: 403 });
    }
  });
});
