import { describe, expect, it } from 'vitest';
import { checkStores } from './check-stores.ts';

describe('the stores that a server is given', () => {
  it.each([
    {},
    { records: 'lmdb:', blobs: 'files:' },
    { records: 'lmdb:/data', blobs: '/data' },
    { records: 'lmdb:///data/records', blobs: 'files:/data/blobs/' },
  ])('may be its data folder: %j', (stores) => {
    expect(() => checkStores(stores, '/data')).not.toThrow();
  });

  it.each([
    [{ records: 'postgres://user:hunter2@db/coffer' }, /SVC_STORE_RECORDS names a PostgreSQL database/],
    [{ records: 'lmdb:/elsewhere' }, /SVC_STORE_RECORDS names the folder \/elsewhere/],
    [{ blobs: 's3://bucket/prefix' }, /SVC_STORE_BLOBS is s3:\/\/bucket\/prefix/],
    [{ blobs: '/shared' }, /SVC_STORE_BLOBS is \/shared/],
  ])('may not be another: %j', (stores, message) => {
    expect(() => checkStores(stores, '/data')).toThrow(message);
    expect(() => checkStores(stores, '/data')).not.toThrow(/hunter2/);
  });
});
