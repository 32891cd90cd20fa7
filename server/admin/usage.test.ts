import { describe, expect, it } from 'vitest';
import type { Usage } from '../observability/usage/usage.ts';
import { adminTest } from '../../test/support/admin/admin.ts';

const sizes = [1, 0, 0, 0, 1];
const versions = { versions: 5, deleteMarkers: 1 };
const photos = {
  bucket: 'photos',
  objects: 2,
  bytes: 1_000_000,
  ...versions,
  uploads: 1,
  uploadBytes: 5,
  sizes,
  keys: [1, 1],
};
const usage: Usage = {
  began: Date.parse('2026-01-01T00:00:00Z'),
  ended: Date.parse('2026-01-01T00:00:01Z'),
  answers: 0,
  unreadable: 0,
  ...photos,
  buckets: [photos],
};
const counted = (last: Usage | undefined) => ({
  usage: { last: () => Promise.resolve(last), countNow: () => Promise.resolve(usage) },
});

describe('datausageinfo', () => {
  it("has what was counted, under MinIO's names", async () => {
    const { call } = await adminTest({ services: counted(usage) });
    expect((await call('root', 'GET', 'datausageinfo')).value).toMatchObject({
      lastUpdate: '2026-01-01T00:00:01.000Z',
      objectsCount: 2,
      versionsCount: 5,
      deleteMarkersCount: 1,
      objectsTotalSize: 1_000_000,
      bucketsCount: 1,
      bucketsUsageInfo: {
        photos: {
          size: 1_000_000,
          objectsCount: 2,
          versionsCount: 5,
          deleteMarkersCount: 1,
          objectsSizesHistogram: { LESS_THAN_1024_B: 1, BETWEEN_512_KB_AND_1_MB: 1, BETWEEN_1024B_AND_1_MB: 1 },
          objectsVersionsHistogram: { UNVERSIONED: 0, SINGLE_VERSION: 1, BETWEEN_2_AND_10: 1, GREATER_THAN_10000: 0 },
        },
      },
      bucketsSizes: { photos: 1_000_000 },
      capacity: 100,
      freeCapacity: 30,
      usedCapacity: 70,
    });
  });

  it("has Go's zero for a time before the first count", async () => {
    const { call } = await adminTest({ services: counted(undefined) });
    const { value } = await call('root', 'GET', 'datausageinfo');
    expect(value).toMatchObject({ lastUpdate: '0001-01-01T00:00:00Z', bucketsUsageInfo: {} });
    for (const field of ['objectsCount', 'bucketsCount']) expect(value).not.toHaveProperty(field);
  });

  it('is closed to people without the right', async () => {
    const { call, identities } = await adminTest({ services: counted(usage) });
    await identities.putUser({ accessKey: 'ann', secretKey: 'ann-password' });
    await identities.attach({ kind: 'user', name: 'ann' }, ['readwrite']);
    for (const [method, path] of [
      ['GET', 'datausageinfo'],
      ['GET', '/minio/admin/coffer/v1/usage'],
      ['POST', '/minio/admin/coffer/v1/usage'],
    ] as const) {
      expect(await call('ann', method, path)).toMatchObject({ status: 403 });
    }
  });
});

describe("Coffer's own call", () => {
  const path = '/minio/admin/coffer/v1/usage';

  it('tells uploads that were not completed too', async () => {
    const { call } = await adminTest({ services: counted(usage) });
    expect((await call('root', 'GET', path)).value).toMatchObject({
      usage: {
        began: '2026-01-01T00:00:00.000Z',
        ended: '2026-01-01T00:00:01.000Z',
        buckets: [{ bucket: 'photos', objects: 2, bytes: 1_000_000, ...versions, uploads: 1, uploadBytes: 5 }],
      },
    });
  });

  it('is null before the first count, and counts now when it is posted', async () => {
    const { call } = await adminTest({ services: counted(undefined) });
    expect((await call('root', 'GET', path)).value).toEqual({ usage: null });
    expect((await call('root', 'POST', path)).value).toMatchObject({ usage: { objects: 2 } });
  });
});

describe('other calls', () => {
  it('info has the sums, and says where nothing was counted yet', async () => {
    const { call } = await adminTest({ buckets: ['photos'], services: counted(usage) });
    expect((await call('root', 'GET', 'info')).value).toMatchObject({
      buckets: { count: 1 },
      objects: { count: 2 },
      usage: { size: 1_000_000 },
      pools: { 0: { 0: { usage: 1_000_000, objectsCount: 2 } } },
    });
    const fresh = await adminTest({ services: counted(undefined) });
    expect((await fresh.call('root', 'GET', 'info')).value).toMatchObject({
      objects: { count: 0, error: 'nothing was counted yet' },
    });
  });

  it('info says whether the directory answers', async () => {
    const { call } = await adminTest({ services: { directory: { find: () => Promise.resolve(undefined) } } });
    expect((await call('root', 'GET', 'info')).value).toMatchObject({ services: { ldap: { status: 'online' } } });
  });

  it('accountinfo has the sizes of buckets, and none for one that was made since', async () => {
    const { call } = await adminTest({ buckets: ['new', 'photos'], services: counted(usage) });
    const { value } = await call('root', 'GET', 'accountinfo');
    for (const field of ['size', 'objects', 'objectHistogram']) expect(value).not.toHaveProperty(['Buckets', 0, field]);
    expect(value).toMatchObject({
      Buckets: [
        { name: 'new' },
        { name: 'photos', size: 1_000_000, objects: 2, objectHistogram: { LESS_THAN_1024_B: 1 } },
      ],
    });
  });
});
