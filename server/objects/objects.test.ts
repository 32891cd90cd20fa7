import { describe, expect, it } from 'vitest';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import { put, testLayer } from '../../test/support/objects/test-layer.ts';
import { bodyFrom } from './contract/body-source.ts';
import { randomBytes } from 'node:crypto';
import { pooledRandom } from './objects.ts';

const full = { code: 'XMinioStorageFull', status: 507 };

/** A layer with room for 1,000 bytes of bodies and of records each, of which 100 are reserved. */
async function prepared() {
  const free = { blobs: 1000, records: 1000 };
  let now = 0;
  const records = Object.assign(new MemoryRecordStore(), {
    space: () => Promise.resolve({ free: free.records, total: 1000 }),
  });
  const { layer, blobs } = testLayer({ records, inlineLimit: 10, reserve: { bytes: 100 }, clock: () => now });
  blobs.space = () => Promise.resolve({ free: free.blobs, total: 1000 });
  await layer.createBucket('bucket', { location: '' });
  const measureAgain = (what: Partial<typeof free>) => {
    Object.assign(free, what);
    now += 1000;
  };
  return { layer, measureAgain, free };
}

describe('the reserve of free space', () => {
  it.each([
    ['blobs', 'x'.repeat(20), 120],
    ['records', 'x', 100],
  ] as const)('is kept of the volume of %s', async (volume, bytes, enough) => {
    const { layer, measureAgain } = await prepared();
    measureAgain({ [volume]: enough - 1 });
    await expect(layer.putObject(put('bucket', 'key', bytes))).rejects.toMatchObject(full);
    measureAgain({ [volume]: enough });
    await expect(layer.putObject(put('bucket', 'key', bytes))).resolves.toMatchObject({ size: bytes.length });
  });

  it('lets small objects into room that the records have, on a full disk too', async () => {
    const { layer, measureAgain } = await prepared();
    measureAgain({ blobs: 0 });
    await expect(layer.putObject(put('bucket', 'key', 'x'))).resolves.toMatchObject({ size: 1 });
  });

  it('goes by the volume of bodies where the records cannot tell theirs', async () => {
    const { layer, blobs } = testLayer({ reserve: { percent: 10 } });
    blobs.space = () => Promise.resolve({ free: 99, total: 1000 });
    await expect(layer.createBucket('bucket', { location: '' })).rejects.toMatchObject(full);
  });

  it('holds for buckets, uploads, parts and copies too, and for no delete', async () => {
    const { layer, measureAgain } = await prepared();
    await layer.putObject(put('bucket', 'key', 'x'));
    const object = { bucket: 'bucket', key: 'key' };
    const { uploadId } = await layer.createMultipartUpload({ ...object, headers: { metadata: {} } });
    measureAgain({ blobs: 99, records: 99 });
    await expect(layer.createBucket('other', { location: '' })).rejects.toMatchObject(full);
    await expect(layer.createMultipartUpload({ ...object, headers: { metadata: {} } })).rejects.toMatchObject(full);
    const part = { ...put('bucket', 'key', 'x'), uploadId, partNumber: 1 };
    await expect(layer.putPart(part)).rejects.toMatchObject(full);
    await expect(layer.copyPart({ ...object, uploadId, partNumber: 1, source: object })).rejects.toMatchObject(full);
    await expect(layer.copyObject({ source: object, bucket: 'bucket', key: 'copy' })).rejects.toMatchObject(full);
    await layer.abortMultipartUpload('bucket', 'key', uploadId);
    await layer.deleteObject('bucket', 'key');
    await layer.deleteBucket('bucket');
  });

  it('refuses a body that would pass it before a byte of it is read', async () => {
    const { layer } = await prepared();
    let read = false;
    const body = bodyFrom(
      (async function* () {
        read = true;
        yield Buffer.alloc(901);
      })(),
    );
    await expect(layer.putObject({ ...put('bucket', 'key', ''), size: 901, body })).rejects.toMatchObject(full);
    expect(read).toBe(false);
    await expect(layer.putObject(put('bucket', 'key', 'x'.repeat(900)))).resolves.toMatchObject({ size: 900 });
  });

  it('is measured once a second, however many write', async () => {
    const { layer, free } = await prepared();
    await layer.putObject(put('bucket', 'key', 'x'));
    free.records = 0;
    await expect(layer.putObject(put('bucket', 'key', 'x'))).resolves.toMatchObject({ size: 1 });
  });

  it('says how much is free of what, and which setting it is', async () => {
    const { layer, measureAgain } = await prepared();
    measureAgain({ records: 0 });
    await expect(layer.putObject(put('bucket', 'key', 'x'))).rejects.toThrow(
      'Only 0 MiB are free for records, and 0 MiB are reserved (SVC_STORAGE_RESERVE). Delete objects to go on.',
    );
  });
});

describe('the pool of random bytes', () => {
  it('gives every byte of its source once, in their order', () => {
    const given: Buffer[] = [];
    const random = pooledRandom((size) => {
      const bytes = randomBytes(size);
      given.push(Buffer.from(bytes));
      return bytes;
    });
    const taken = Array.from({ length: 256 }, () => random(16));
    expect(Buffer.concat(taken).equals(Buffer.concat(given))).toBe(true);
  });

  it('never shares memory between those it gave bytes to', () => {
    const random = pooledRandom(randomBytes);
    const first = random(16);
    const copy = Buffer.from(first);
    random(16).fill(0);
    expect(first.equals(copy)).toBe(true);
  });

  it('passes on what is large', () => {
    const random = pooledRandom((size) => Buffer.alloc(size, size === 5000 ? 7 : 1));
    expect(random(5000).equals(Buffer.alloc(5000, 7))).toBe(true);
  });
});
