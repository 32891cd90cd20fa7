import { describe, expect, it } from 'vitest';
import type { StoreSettings } from '../settings/server-settings.ts';
import { describeAddress, storePlaces } from './store-address.ts';

const s3 = { region: 'us-east-1', accessKey: 'key', secretKey: 'hunter2' };
const places = (stores: Partial<StoreSettings>, folder: string | null = '/data') =>
  storePlaces({ s3: { region: 'us-east-1' }, ...stores }, folder ?? undefined);

describe('the places of the stores', () => {
  it.each([
    {},
    { records: 'lmdb:', blobs: 'files:' },
    { records: 'lmdb:/data', blobs: '/data' },
    { records: 'lmdb:///data/records', blobs: 'files:/data/blobs/' },
  ])('are the data folder: %j', (stores) => {
    expect(places(stores)).toEqual({
      records: { kind: 'lmdb', folder: '/data/records' },
      blobs: { kind: 'files', folder: '/data/blobs' },
      dataFolders: ['/data'],
    });
  });

  it.each([
    ['records in a folder of their own', { records: 'lmdb:/fast' }, '/fast/records', '/data/blobs', ['/fast', '/data']],
    ['blobs in a shared folder', { blobs: 'files:/shared' }, '/data/records', '/shared', ['/data']],
    ['both elsewhere', { records: 'lmdb:/fast', blobs: '/shared' }, '/fast/records', '/shared', ['/fast']],
  ])('may be apart: %s', (_what, stores, records, blobs, dataFolders) => {
    expect(places(stores)).toEqual({
      records: { kind: 'lmdb', folder: records },
      blobs: { kind: 'files', folder: blobs },
      dataFolders,
    });
  });

  it('need no data folder where both are shared', () => {
    expect(
      places({ records: 'postgres://coffer:p%40ss@db:5432/coffer?sslmode=require', blobs: 's3://bkt/p/', s3 }, null),
    ).toEqual({
      records: { kind: 'postgres', url: 'postgres://coffer@db/coffer?sslmode=require', password: 'p@ss' },
      blobs: { kind: 's3', bucket: 'bkt', prefix: 'p/', ...s3 },
      dataFolders: [],
    });
  });

  it('take authorities of a private kind beside the addresses', () => {
    const stores = { records: 'postgres://c@db/c', recordsCaFile: '/etc/own ca.pem', blobs: 's3://bkt' };
    expect(places({ ...stores, s3: { ...s3, caFile: '/etc/other.pem' } }, null)).toMatchObject({
      records: { url: 'postgres://c@db/c?sslrootcert=%2Fetc%2Fown+ca.pem' },
      blobs: { caFile: '/etc/other.pem' },
    });
  });

  it('take the password of the database beside its address', () => {
    expect(places({ records: 'postgresql://coffer@db/coffer', recordsPassword: 'a/b' }).records).toEqual({
      kind: 'postgres',
      url: 'postgres://coffer@db/coffer',
      password: 'a/b',
    });
  });

  it.each([
    [{ records: 'postgres://c:hunter2@db:port/coffer' }, /^SVC_STORE_RECORDS is not the address/],
    [{ records: 'postgres://c:12?hunter2@db/coffer' }, /^SVC_STORE_RECORDS is not the address/],
    [{ records: 'postgres://c:12#hunter2@db/coffer' }, /^SVC_STORE_RECORDS is not the address/],
    [
      { records: 'postgres://c:hunter2@db/c?sslrootcert=/a.pem', recordsCaFile: '/b.pem' },
      /^SVC_STORE_RECORDS_CA_FILE is set, and SVC_STORE_RECORDS has sslrootcert too/,
    ],
    [
      { records: 'postgres://c:hunter2@db/c?sslmode=disable', recordsCaFile: '/b.pem' },
      /^SVC_STORE_RECORDS_CA_FILE is set, and SVC_STORE_RECORDS has sslmode=disable/,
    ],
    [{ records: 'postgres://c:100%hunter2@db/coffer' }, /^the password in SVC_STORE_RECORDS has a %/],
    [{ records: 'postgres://c:hunter2@db/coffer', recordsPassword: 'hunter2' }, /^SVC_STORE_RECORDS_PASSWORD is set/],
    [{ records: 'postgres://c:hunter2@db/coffer?sslmode=prefer' }, /^the address of PostgreSQL has sslmode=prefer/],
    [{ blobs: 's3://bkt/prefix' }, /^SVC_STORE_BLOBS is s3:\/\/bkt\/prefix, and SVC_STORE_BLOBS_S3_ACCESS_KEY and /],
    [{ blobs: 's3://B', s3 }, /^SVC_STORE_BLOBS is s3:\/\/B: expected/],
  ])('are refused before a store is opened, without a password: %j', (stores, message) => {
    expect(() => places(stores)).toThrow(message);
    expect(() => places(stores)).not.toThrow(/hunter2/);
  });

  it('say which data folder is missing', () => {
    expect(() => places({ records: 'postgres://me@db/coffer' }, null)).toThrow(/no data folder .* SVC_STORE_BLOBS/);
    expect(() => places({}, null)).toThrow(/no data folder .* SVC_STORE_RECORDS/);
  });
});

it('describes a store without its secrets', () => {
  const { records, blobs } = places({ records: 'postgres://c:hunter2@db/coffer', blobs: 's3://bucket/p', s3 });
  expect([describeAddress(records), describeAddress(blobs)]).toEqual(['postgres://c@db/coffer', 's3://bucket/p/']);
});
