import { afterAll, describe, expect, it } from 'vitest';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { openFilesBlobStore } from '../store/files/blob-store.ts';
import { noKeySource } from '../encryption/key-source.ts';
import { decodeKey, within } from '../store/keys.ts';
import { openLmdbRecordStore } from '../store/lmdb/record-store.ts';
import { Faults } from '../store/memory/faults.ts';
import { MemoryBlobStore } from '../store/memory/blob-store.ts';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import type { BlobStore } from '../store/blob-store.ts';
import { type RecordStore } from '../store/record-store.ts';
import type { ObjectLayer } from './contract/object-layer.ts';
import { createObjectLayer } from './objects.ts';
import { removeQueuedBlobs, removeOrphanBlobs } from './garbage-collection/garbage-collection.ts';
import { body, put, randomBody, testLayer } from '../../test/support/objects/test-layer.ts';
import { StoreError } from '../store/store-error.ts';

async function prepared(faults = new Faults()) {
  const records = new MemoryRecordStore({ faults });
  const test = testLayer({ inlineLimit: 100, records });
  await test.layer.createBucket('bucket', { location: '' });
  return test;
}

describe('a lost acknowledgement', () => {
  for (const fault of ['lostAfter', 'lostBefore', 'late'] as const) {
    it(`does not turn a successful If-None-Match: * into a refusal (${fault})`, async () => {
      const { layer, records } = await prepared();
      records.faults.script(fault);
      const conditions = { ifNoneMatch: ['*'] };
      await expect(layer.putObject(put('bucket', 'key', 'mine', { conditions }))).resolves.toMatchObject({ size: 4 });
      expect(String(await body(layer, 'bucket', 'key'))).toBe('mine');
    });

    it(`does not make a deleted bucket missing to who deleted it (${fault})`, async () => {
      const { layer, records } = await prepared();
      records.faults.script(fault, fault);
      await expect(layer.deleteBucket('bucket')).resolves.toBeUndefined();
      await expect(layer.headBucket('bucket')).rejects.toMatchObject({ code: 'NoSuchBucket' });
    });

    it(`does not make a completed upload unknown to who completed it (${fault})`, async () => {
      const { layer, records } = await prepared();
      const upload = { bucket: 'bucket', key: 'key' };
      const { uploadId } = await layer.createMultipartUpload({ ...upload, headers: { metadata: {} } });
      const { etag } = await layer.putPart({ ...put('bucket', 'key', 'x'), uploadId, partNumber: 1 });
      records.faults.script(fault);
      const parts = [{ partNumber: 1, etag }];
      await expect(layer.completeMultipartUpload({ ...upload, uploadId, parts })).resolves.toMatchObject({ size: 1 });
    });
  }

  it('that cannot be settled keeps the blob, since the commit may have taken effect', async () => {
    const { layer, records, blobs } = await prepared();
    const bytes = randomBody(500);
    records.faults.script('lostAfter');
    const outcome = records.outcome.bind(records);
    records.outcome = () => Promise.reject(new StoreError('unreachable', 'gone'));
    await expect(layer.putObject(put('bucket', 'key', bytes))).rejects.toMatchObject({ code: 'ServiceUnavailable' });
    records.outcome = outcome;
    expect(await Array.fromAsync(blobs.list())).toHaveLength(1);
    expect((await body(layer, 'bucket', 'key')).equals(bytes)).toBe(true);
  });
});

describe('conflicts', () => {
  it('are met by trying again, a bounded number of times', async () => {
    const { layer, records, blobs } = await prepared();
    records.faults.script('conflict', 'conflict', 'conflict');
    await expect(layer.putObject(put('bucket', 'key', 'x'))).resolves.toBeDefined();
    records.faults.script(...Array.from({ length: 100 }, () => 'conflict' as const));
    await expect(layer.putObject(put('bucket', 'key', randomBody(500)))).rejects.toMatchObject({ code: 'SlowDown' });
    expect(await Array.fromAsync(blobs.list())).toEqual([]);
  });

  it('of many writers of one key refuse none, and leave one of their objects and nothing else', async () => {
    const { layer, records, blobs } = await prepared();
    const bodies = Array.from({ length: 200 }, () => randomBody(500));
    await Promise.all(bodies.map((bytes) => layer.putObject(put('bucket', 'key', bytes))));
    const left = await body(layer, 'bucket', 'key');
    expect(bodies.some((bytes) => bytes.equals(left))).toBe(true);
    await removeQueuedBlobs({ records, blobs, now: Date.now() + 1, delay: 0 });
    expect(await Array.fromAsync(blobs.list())).toHaveLength(1);
  });

  it('let one of many win who all want the key absent', async () => {
    const { layer } = await prepared();
    const conditions = { ifNoneMatch: ['*'] };
    const answers = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) => layer.putObject(put('bucket', 'key', `body ${index}`, { conditions }))),
    );
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

describe('a full disk', () => {
  it('refuses the write and keeps nothing', async () => {
    const { layer, blobs } = await prepared();
    blobs.faults.script('blobWrite');
    await expect(layer.putObject(put('bucket', 'key', randomBody(500)))).rejects.toMatchObject({
      code: 'XMinioStorageFull',
    });
    expect(await Array.fromAsync(blobs.list())).toEqual([]);
    await expect(layer.headObject('bucket', 'key')).rejects.toMatchObject({ code: 'NoSuchKey' });
  });
});

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

/** Both stores of an engine; `calm` ends the faults. */
type Stores = { readonly records: RecordStore; readonly blobs: BlobStore; readonly calm: () => void };
const engines: Readonly<Record<string, (seed: number) => Promise<Stores>>> = {
  'faulty memory': (seed) => {
    let faults = new Faults({
      seed,
      latencyTicks: 2,
      conflict: 0.05,
      lostAfter: 0.05,
      lostBefore: 0.05,
      late: 0.05,
      unavailable: 0.01,
      blobWrite: 0.03,
    });
    const stores = {
      records: new MemoryRecordStore({ faults }),
      blobs: new MemoryBlobStore({ faults }),
      calm: () => {
        Object.defineProperty(faults, 'strike', { value: () => undefined });
        faults = new Faults();
      },
    };
    return Promise.resolve(stores);
  },
  'LMDB and files': async () => {
    const folder = await mkdtemp(join(tmpdir(), 'coffer-objects-'));
    folders.push(folder);
    for (const name of ['records', 'blobs']) await mkdir(join(folder, name));
    return {
      records: openLmdbRecordStore({ folder: join(folder, 'records') }),
      blobs: openFilesBlobStore(join(folder, 'blobs')),
      calm: () => undefined,
    };
  },
};

/** Whether the operation was done; refusals of a store in trouble are expected, others are not. */
async function tried(operation: Promise<unknown>): Promise<'done' | 'failed' | 'unknown'> {
  try {
    await operation;
    return 'done';
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    if (error.code === 'ServiceUnavailable') return 'unknown';
    expect(['SlowDown', 'XMinioStorageFull']).toContain(error.code);
    return 'failed';
  }
}

async function createUntilThere(layer: ObjectLayer): Promise<void> {
  while ((await tried(layer.createBucket('bucket', { location: '' }))) !== 'done');
}

for (const [name, open] of Object.entries(engines)) {
  describe(`objects on ${name}`, () => {
    it('are what was answered, whatever happens below; nothing is left over', async () => {
      for (const seed of [1, 2, 3, 4]) {
        const { records, blobs, calm } = await open(seed);
        const { keys } = testLayer();
        const layer = createObjectLayer({ records, blobs, keys, inlineLimit: 100 });
        await createUntilThere(layer).catch(() => undefined);
        const worker = async (key: string) => {
          // What may be there: more than one while the last answer was no answer.
          let possible: (Buffer | undefined)[] = [undefined];
          for (let step = 0; step < 12; step += 1) {
            const bytes = step % 4 === 3 ? undefined : randomBody(step % 2 === 0 ? 50 : 5000);
            const encryption = step % 3 === 0 ? { encryption: { scheme: 'SSE-S3' } as const } : {};
            const result = await tried(
              bytes === undefined
                ? layer.deleteObject('bucket', key)
                : layer.putObject(put('bucket', key, bytes, encryption)),
            );
            if (result === 'done') possible = [bytes];
            if (result === 'unknown') possible.push(bytes);
          }
          return possible;
        };
        const names = ['a', 'b', 'c', 'd'];
        const expected = await Promise.all(names.map(worker));
        calm();
        await new Promise((resolve) => setTimeout(resolve, 20));
        let large = 0;
        for (const [index, key] of names.entries()) {
          const found = await body(layer, 'bucket', key).catch((error: unknown) => {
            expect(error).toMatchObject({ code: 'NoSuchKey' });
          });
          const possible = expected[index] ?? [];
          expect(possible.some((bytes) => (bytes === undefined ? found === undefined : found?.equals(bytes)))).toBe(
            true,
          );
          if ((found?.length ?? 0) > 100) large += 1;
        }
        const now = Date.now() + 1000;
        await removeQueuedBlobs({ records, blobs, now, delay: 0 });
        await removeOrphanBlobs({ records, blobs, now, grace: -1000 });
        expect(await Array.fromAsync(blobs.list())).toHaveLength(large);
        expect(await Array.fromAsync(records.scan(within('r')))).toHaveLength(large);
        await records.close();
      }
    });

    it('never lose their bucket: of a put and a deletion at the same moment one is refused', async () => {
      const { records, blobs, calm } = await open(5);
      const layer = createObjectLayer({ records, blobs, keys: noKeySource });
      const both: string[] = [];
      for (let round = 0; round < 60; round += 1) {
        const bucket = `bucket${round}`;
        while ((await tried(layer.createBucket(bucket, { location: '' }).catch(alreadyThere))) !== 'done');
        const [put_, deletion] = await Promise.allSettled([
          later(round % 7, () => layer.putObject(put(bucket, 'key', 'x'))),
          later(Math.floor(round / 7), () => layer.deleteBucket(bucket)),
        ]);
        if (put_.status === 'fulfilled' && deletion.status === 'fulfilled') both.push(bucket);
      }
      calm();
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(both).toEqual([]);
      const buckets = (await layer.listBuckets()).map(({ name }) => name);
      for await (const item of records.scan(within('o'))) {
        if (item.kind === 'entry') expect(buckets).toContain(String(decodeKey(item.key)[1]));
      }
      await records.close();
    });
  });
}

async function later<T>(writeMutexes: number, run: () => Promise<T>): Promise<T> {
  for (let turn = 0; turn < writeMutexes; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  return run();
}

/** A bucket that was made by an attempt whose answer was lost. */
function alreadyThere(error: unknown): void {
  if (!(error instanceof S3Error) || error.code !== 'BucketAlreadyOwnedByYou') throw error;
}

describe('deleting a bucket', () => {
  it('refuses while an object is in it', async () => {
    const { layer } = await prepared();
    await layer.putObject(put('bucket', 'key', 'x'));
    await expect(layer.deleteBucket('bucket')).rejects.toMatchObject({ code: 'BucketNotEmpty' });
    await layer.deleteObject('bucket', 'key');
    await layer.deleteBucket('bucket');
    await expect(layer.deleteBucket('bucket')).rejects.toMatchObject({ code: 'NoSuchBucket' });
  });

  it('ends the uploads in it, which are unknown to a bucket of the same name', async () => {
    const { layer, records, blobs } = await prepared();
    const upload = { bucket: 'bucket', key: 'key' };
    const { uploadId } = await layer.createMultipartUpload({ ...upload, headers: { metadata: {} } });
    await layer.putPart({ ...put('bucket', 'key', 'x'), uploadId, partNumber: 1 });
    await layer.deleteBucket('bucket');
    await layer.createBucket('bucket', { location: '' });
    await expect(layer.abortMultipartUpload('bucket', 'key', uploadId)).rejects.toMatchObject({ code: 'NoSuchUpload' });
    await removeQueuedBlobs({ records, blobs, now: Date.now() + 1, delay: 0 });
    expect(await Array.fromAsync(blobs.list())).toEqual([]);
  });

  it('that died half-way blocks no other one', async () => {
    const { layer, records } = await prepared();
    // The mark is made; the last commit never arrives.
    const commit = records.commit.bind(records);
    let commits = 0;
    records.commit = (batch) => {
      commits += 1;
      if (commits > 1) throw new Error('the process died');
      return commit(batch);
    };
    await expect(layer.deleteBucket('bucket')).rejects.toThrow('the process died');
    records.commit = commit;
    await expect(layer.headBucket('bucket')).resolves.toBeDefined();
    await layer.putObject(put('bucket', 'key', 'x'));
    await expect(layer.deleteBucket('bucket')).rejects.toMatchObject({ code: 'BucketNotEmpty' });
  });

  it('refuses to make a bucket twice', async () => {
    const { layer } = await prepared();
    await expect(layer.createBucket('bucket', { location: '' })).rejects.toMatchObject({
      code: 'BucketAlreadyOwnedByYou',
    });
    expect((await layer.listBuckets()).map(({ name }) => name)).toEqual(['bucket']);
  });
});
