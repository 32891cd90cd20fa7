import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { MemoryRecordStore } from '../../store/memory/record-store.ts';
import {
  holdGarbageCollection,
  isGarbageCollectionHeld,
  removeQueuedBlobs,
  removeOrphanBlobs,
  REMOVAL_DELAY,
} from './garbage-collection.ts';
import { ORPHAN_GRACE_PERIOD } from './orphan-grace-period.ts';
import { put, randomBody, testLayer, body, chunks } from '../../../test/support/objects/test-layer.ts';
import { commitOnce } from '../../store/commits.ts';
import { within } from '../../store/keys.ts';
import { MemoryBlobStore } from '../../store/memory/blob-store.ts';

const own = (now: number) => ({ clock: () => now, random: randomBytes });

describe('a hold on removals', () => {
  it('keeps what is given up while it lasts, and orphans', async () => {
    const { layer, records, blobs } = testLayer();
    await layer.createBucket('bucket', { location: '' });
    await layer.putObject(put('bucket', 'key', randomBody(200_000)));
    await layer.deleteObject('bucket', 'key');
    const now = Date.now() + 2 * ORPHAN_GRACE_PERIOD;
    const hold = await holdGarbageCollection(records, own(now));
    expect(await removeQueuedBlobs({ records, blobs, now })).toEqual({ removed: 0 });
    expect(await removeOrphanBlobs({ records, blobs, now, grace: 0 })).toEqual({ removed: 0 });
    await hold.release();
    expect(await removeQueuedBlobs({ records, blobs, now })).toEqual({ removed: 1 });
  });

  it('is held until the last one is released', async () => {
    const records = new MemoryRecordStore();
    const [one, other] = [await holdGarbageCollection(records, own(0)), await holdGarbageCollection(records, own(0))];
    await one.release();
    expect(await isGarbageCollectionHeld(records, 1)).toBe(true);
    await other.release();
    expect(await isGarbageCollectionHeld(records, 1)).toBe(false);
  });

  it('ends by itself when its owner died', async () => {
    const records = new MemoryRecordStore();
    const hold = await holdGarbageCollection(records, own(0));
    expect(await isGarbageCollectionHeld(records, 29 * 60_000)).toBe(true);
    expect(await isGarbageCollectionHeld(records, 30 * 60_000)).toBe(false);
    await hold.release();
  });
});

async function prepared() {
  const clock = { now: 1_700_000_000_000 };
  const blobs = new MemoryBlobStore({ now: () => clock.now });
  const test = testLayer({ inlineLimit: 10, clock: () => clock.now, blobs });
  await test.layer.createBucket('bucket', { location: '' });
  const options = () => ({ records: test.records, blobs: test.blobs, now: clock.now });
  return { ...test, clock, options, blobCount: async () => (await Array.fromAsync(test.blobs.list())).length };
}

/** A body that stops in the middle until it is told to go on. */
function slowBody(bytes: Buffer) {
  const { promise, resolve } = Promise.withResolvers<void>();
  async function* read() {
    yield bytes.subarray(0, 50);
    await promise;
    yield bytes.subarray(50);
  }
  return { read, goOn: resolve };
}

describe('removeQueuedBlobs', () => {
  it('removes what was replaced and deleted, after the time that readers have', async () => {
    const { layer, clock, options, blobCount, records } = await prepared();
    await layer.putObject(put('bucket', 'a', randomBody(100)));
    await layer.putObject(put('bucket', 'a', randomBody(100)));
    await layer.putObject(put('bucket', 'b', randomBody(100)));
    await layer.deleteObject('bucket', 'b');
    clock.now += REMOVAL_DELAY - 1;
    expect(await removeQueuedBlobs(options())).toEqual({ removed: 0 });
    clock.now += 1;
    expect(await removeQueuedBlobs(options())).toEqual({ removed: 2 });
    expect(await blobCount()).toBe(1);
    expect(await body(layer, 'bucket', 'a')).toHaveLength(100);
    expect(await Array.fromAsync(records.scan(within('x')))).toEqual([]);
  });

  it('goes on where it was interrupted', async () => {
    const { layer, clock, options, blobs, blobCount } = await prepared();
    for (let index = 0; index < 3; index += 1) {
      await layer.putObject(put('bucket', 'a', randomBody(100)));
      await layer.deleteObject('bucket', 'a');
    }
    clock.now += REMOVAL_DELAY;
    const remove = blobs.remove.bind(blobs);
    let calls = 0;
    blobs.remove = async (id) => {
      calls += 1;
      if (calls === 2) throw new Error('interrupted');
      await remove(id);
    };
    await expect(removeQueuedBlobs(options())).rejects.toThrow('interrupted');
    await removeQueuedBlobs(options());
    expect(await blobCount()).toBe(0);
  });
});

describe('removeOrphanBlobs', () => {
  it('removes a blob without an owner when the records have not known it for the grace period, and no other', async () => {
    const { layer, clock, options, blobs, blobCount } = await prepared();
    await layer.putObject(put('bucket', 'kept', randomBody(100)));
    await blobs.write('0'.repeat(32) as never, chunks(randomBody(100), 10));
    clock.now += ORPHAN_GRACE_PERIOD - 1;
    expect(await removeOrphanBlobs(options())).toEqual({ removed: 0 });
    clock.now += 1;
    expect(await removeOrphanBlobs(options())).toEqual({ removed: 0 });
    clock.now += ORPHAN_GRACE_PERIOD - 1;
    expect(await removeOrphanBlobs(options())).toEqual({ removed: 0 });
    clock.now += 1;
    expect(await removeOrphanBlobs(options())).toEqual({ removed: 1 });
    expect(await blobCount()).toBe(1);
    expect(await body(layer, 'bucket', 'kept')).toHaveLength(100);
  });

  it('removes no body that got an owner again, as by a repair of the records', async () => {
    const { layer, clock, options, records, blobCount } = await prepared();
    await layer.putObject(put('bucket', 'kept', randomBody(100)));
    const [owner] = await Array.fromAsync(records.scan(within('r')));
    if (owner?.kind !== 'entry') throw new Error('the body has an owner');
    await commitOnce(records, { delete: [owner.key] }, randomBytes);
    clock.now += ORPHAN_GRACE_PERIOD;
    await removeOrphanBlobs(options());
    await commitOnce(records, { put: [{ key: owner.key, value: owner.value }] }, randomBytes);
    clock.now += ORPHAN_GRACE_PERIOD;
    expect(await removeOrphanBlobs(options())).toEqual({ removed: 0 });
    expect(await blobCount()).toBe(1);
  });

  it('keeps the parts of an upload that is not finished', async () => {
    const { layer, clock, options, blobCount } = await prepared();
    const upload = { bucket: 'bucket', key: 'key' };
    const { uploadId } = await layer.createMultipartUpload({ ...upload, headers: { metadata: {} } });
    const part = put('bucket', 'key', randomBody(100));
    await layer.putPart({ ...part, uploadId, partNumber: 1 });
    clock.now += 2 * ORPHAN_GRACE_PERIOD;
    expect(await removeOrphanBlobs(options())).toEqual({ removed: 0 });
    expect(await blobCount()).toBe(1);
  });

  it('never lets an upload commit a blob that it removed', async () => {
    const { layer, clock, options } = await prepared();
    const bytes = randomBody(100);
    const slow = slowBody(bytes);
    const answer = layer.putObject(put('bucket', 'slow', bytes, { body: slow.read() }));
    await new Promise((resolve) => setImmediate(resolve));
    clock.now += ORPHAN_GRACE_PERIOD;
    await removeOrphanBlobs(options());
    clock.now += ORPHAN_GRACE_PERIOD;
    expect(await removeOrphanBlobs(options())).toEqual({ removed: 1 });
    slow.goOn();
    await expect(answer).rejects.toMatchObject({ code: 'RequestTimeout' });
    await expect(layer.headObject('bucket', 'slow')).rejects.toMatchObject({ code: 'NoSuchKey' });
  });

  it('never removes a blob that an upload commits at the same moment', async () => {
    for (let round = 0; round < 30; round += 1) {
      const { layer, clock, options, blobCount } = await prepared();
      const bytes = randomBody(100);
      const slow = slowBody(bytes);
      const answer = layer.putObject(put('bucket', 'slow', bytes, { body: slow.read() }));
      await new Promise((resolve) => setImmediate(resolve));
      clock.now += ORPHAN_GRACE_PERIOD;
      slow.goOn();
      for (let turn = 0; turn < round % 10; turn += 1) await Promise.resolve();
      const [put_] = await Promise.allSettled([answer, removeOrphanBlobs(options())]);
      if (put_.status === 'fulfilled') expect((await body(layer, 'bucket', 'slow')).equals(bytes)).toBe(true);
      else expect(await blobCount()).toBe(0);
    }
  });

  it('forgets a tombstone when no writer can be left', async () => {
    const { clock, options, blobs, records } = await prepared();
    await blobs.write('0'.repeat(32) as never, chunks(randomBody(100), 10));
    clock.now += ORPHAN_GRACE_PERIOD;
    await removeOrphanBlobs(options());
    expect(await Array.fromAsync(records.scan(within('t')))).toHaveLength(1);
    clock.now += 7 * ORPHAN_GRACE_PERIOD;
    await removeOrphanBlobs(options());
    expect(await Array.fromAsync(records.scan(within('t')))).toEqual([]);
  });
});
