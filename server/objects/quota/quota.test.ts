import { describe, expect, it } from 'vitest';
import { put, testLayer } from '../../../test/support/objects/test-layer.ts';
import { countUsage } from '../../observability/usage/count-usage.ts';
import { Faults } from '../../store/memory/faults.ts';
import { MemoryRecordStore } from '../../store/memory/record-store.ts';
import type { RecordStore } from '../../store/record-store.ts';
import type { ObjectLayer } from '../contract/object-layer.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { unlimited } from '../../maintenance/pace.ts';

const exceeded = { code: 'XMinioAdminBucketQuotaExceeded', status: 400 };

async function bucketWith(bytes?: number, records = new MemoryRecordStore(), clock?: () => number) {
  const test = testLayer({ inlineLimit: 20, records, ...(clock && { clock }) });
  await test.layer.createBucket('b', { location: '' });
  if (bytes !== undefined) await test.layer.putBucketQuota('b', bytes);
  return test;
}

async function used(layer: ObjectLayer): Promise<number | undefined> {
  return (await layer.getBucketQuota('b'))?.used;
}

/** What the bucket holds, read from its records: objects, versions and parts. */
async function held(records: RecordStore): Promise<number> {
  const { buckets } = await countUsage({ records, reads: unlimited });
  return buckets.reduce((sum, { bytes, uploadBytes }) => sum + bytes + uploadBytes, 0);
}

async function upload(layer: ObjectLayer, key: string) {
  const { uploadId } = await layer.createMultipartUpload({ bucket: 'b', key, headers: { metadata: {} } });
  return {
    part: (partNumber: number, size: number) =>
      layer.putPart({ ...put('b', key, 'x'.repeat(size)), uploadId, partNumber }),
    complete: (parts: readonly { partNumber: number; etag: string }[]) =>
      layer.completeMultipartUpload({ bucket: 'b', key, uploadId, parts }),
    abort: () => layer.abortMultipartUpload('b', key, uploadId),
  };
}

describe('a quota', () => {
  it('is absent, set, changed and cleared', async () => {
    const { layer } = await bucketWith();
    expect(await layer.getBucketQuota('b')).toBeUndefined();
    await layer.putBucketQuota('b', 10);
    await layer.putBucketQuota('b', 20);
    expect(await layer.getBucketQuota('b')).toEqual({ bytes: 20, used: 0, counting: false });
    await layer.putBucketQuota('b', undefined);
    expect(await layer.getBucketQuota('b')).toBeUndefined();
  });

  it('of an absent bucket is refused', async () => {
    await expect(testLayer().layer.putBucketQuota('b', 1)).rejects.toMatchObject({ code: 'NoSuchBucket' });
  });

  it('lets a bucket be filled to the last byte', async () => {
    const { layer } = await bucketWith(10);
    await layer.putObject(put('b', 'x', '1234567890'));
    await layer.putObject(put('b', 'empty', ''));
    await expect(layer.putObject(put('b', 'y', '1'))).rejects.toMatchObject(exceeded);
    expect(await used(layer)).toBe(10);
  });

  it('counts the difference where an object is replaced', async () => {
    const { layer } = await bucketWith(10);
    await layer.putObject(put('b', 'x', '1234567890'));
    await layer.putObject(put('b', 'x', '123456789'));
    await layer.putObject(put('b', 'y', '1'));
    await expect(layer.putObject(put('b', 'x', '1234567890'))).rejects.toMatchObject(exceeded);
    expect(await used(layer)).toBe(10);
  });

  it('refuses copies too', async () => {
    const { layer } = await bucketWith(10);
    await layer.putObject(put('b', 'x', '123456'));
    const copy = { source: { bucket: 'b', key: 'x' }, bucket: 'b', key: 'y' };
    await expect(layer.copyObject(copy)).rejects.toMatchObject(exceeded);
  });

  it('is free again as soon as an object is deleted', async () => {
    const { layer } = await bucketWith(10);
    for (let turn = 0; turn < 3; turn += 1) {
      await layer.putObject(put('b', 'x', '1234567890'));
      await layer.deleteObject('b', 'x');
      await layer.deleteObject('b', 'x');
      expect(await used(layer)).toBe(0);
    }
  });

  it('counts every version, and a delete marker as nothing', async () => {
    const { layer } = await bucketWith(10);
    await layer.putBucketVersioning('b', { status: 'Enabled' });
    const { versionId } = await layer.putObject(put('b', 'x', '12345'));
    await layer.putObject(put('b', 'x', '1234'));
    const marker = await layer.deleteObject('b', 'x');
    await expect(layer.putObject(put('b', 'x', '12'))).rejects.toMatchObject(exceeded);
    await layer.deleteObject('b', 'x', { versionId });
    expect(await used(layer)).toBe(4);
    await layer.deleteObject('b', 'x', { versionId: marker.versionId });
    expect(await used(layer)).toBe(4);
  });

  it('counts parts when they are uploaded, and not again in the object', async () => {
    const { layer } = await bucketWith(10);
    const one = await upload(layer, 'x');
    await one.part(1, 9);
    const last = await one.part(1, 8);
    await expect(one.part(2, 3)).rejects.toMatchObject(exceeded);
    expect(await used(layer)).toBe(8);
    await one.complete([last]);
    expect(await used(layer)).toBe(8);
  });

  it('is free of parts that are not in the object, and of aborted uploads', async () => {
    const { layer } = await bucketWith(20);
    const one = await upload(layer, 'x');
    const [first] = [await one.part(1, 5), await one.part(2, 6)];
    await one.complete([first]);
    const other = await upload(layer, 'y');
    await other.part(1, 7);
    expect(await used(layer)).toBe(12);
    await other.abort();
    expect(await used(layer)).toBe(5);
  });

  it('below what the bucket holds refuses more, and lets it shrink', async () => {
    const { layer } = await bucketWith();
    await layer.putObject(put('b', 'x', '1234567890'));
    await layer.putBucketQuota('b', 5);
    expect(await used(layer)).toBe(10);
    await expect(layer.putObject(put('b', 'y', '1'))).rejects.toMatchObject(exceeded);
    await layer.putObject(put('b', 'x', '12345678'));
    expect(await used(layer)).toBe(8);
  });

  it('goes with its bucket', async () => {
    const { layer } = await bucketWith(10);
    await (await upload(layer, 'x')).part(1, 5);
    await layer.deleteBucket('b');
    await layer.createBucket('b', { location: '' });
    expect(await layer.getBucketQuota('b')).toBeUndefined();
    await layer.putBucketQuota('b', 10);
    expect(await used(layer)).toBe(0);
  });

  it('is never exceeded by many writers at once, and holds what fits', async () => {
    const { layer, records } = await bucketWith(1_000);
    const answers = await Promise.allSettled(
      Array.from({ length: 64 }, (_, index) => layer.putObject(put('b', `k${index}`, 'x'.repeat(30)))),
    );
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(33);
    for (const answer of answers) if (answer.status === 'rejected') expect(answer.reason).toMatchObject(exceeded);
    expect([await used(layer), await held(records)]).toEqual([990, 990]);
  });
});

describe('the first count', () => {
  it('counts objects, versions and parts', async () => {
    const { layer, records } = await bucketWith();
    await layer.putObject(put('b', 'x', '12345'));
    await layer.putBucketVersioning('b', { status: 'Enabled' });
    await layer.putObject(put('b', 'x', '123'));
    await (await upload(layer, 'u')).part(3, 7);
    await layer.createBucket('ba', { location: '' });
    await layer.putObject(put('ba', 'x', 'another bucket'));
    await layer.putBucketQuota('b', 100);
    expect(await layer.getBucketQuota('b')).toEqual({ bytes: 100, used: 15, counting: false });
    expect(await held(records)).toBe(15 + 14);
  });

  it('goes through a bucket of many keys', async () => {
    const { layer } = await bucketWith();
    await Promise.all(Array.from({ length: 4_100 }, (_, index) => layer.putObject(put('b', `key ${index}`, 'x'))));
    await layer.putBucketQuota('b', 5_000);
    expect(await used(layer)).toBe(4_100);
  });

  it('that was interrupted keeps no key from writers for long, and is continued by the next call', async () => {
    let now = Date.now();
    const { layer, records } = await bucketWith(undefined, undefined, () => now);
    await Promise.all(Array.from({ length: 2_100 }, (_, index) => layer.putObject(put('b', `key ${index}`, 'x'))));
    const commit = records.commit.bind(records);
    let commits = 0;
    records.commit = (batch) => {
      commits += 1;
      return commits > 2 ? Promise.reject(new Error('killed')) : commit(batch);
    };
    await expect(layer.putBucketQuota('b', 5_000)).rejects.toThrow('killed');
    records.commit = commit;
    expect(await layer.getBucketQuota('b')).toMatchObject({ counting: true });
    await expect(layer.deleteObject('b', 'key 2099')).rejects.toMatchObject({ code: 'SlowDown' });
    now += 6_000;
    await layer.deleteObject('b', 'key 2099');
    await layer.putBucketQuota('b', 5_000);
    expect(await layer.getBucketQuota('b')).toEqual({ bytes: 5_000, used: 2_099, counting: false });
  });
});

/** One random change of a few keys. Refusals are the server's right; another error is not. */
async function change(layer: ObjectLayer, random: Faults, ids: string[]): Promise<void> {
  const pick = (count: number) => random.upTo(count - 1);
  const key = `k${pick(4)}`;
  const size = pick(40);
  const versionId = ids[pick(Math.max(1, ids.length))];
  try {
    switch (pick(9)) {
      case 0:
        await layer.putBucketVersioning('b', { status: pick(2) === 0 ? 'Enabled' : 'Suspended' });
        return;
      case 1:
      case 2:
        await layer.deleteObject('b', key);
        return;
      case 3:
        if (versionId !== undefined) await layer.deleteObject('b', key, { versionId });
        return;
      case 4:
        await layer.copyObject({ source: { bucket: 'b', key: `k${pick(4)}` }, bucket: 'b', key });
        return;
      case 5: {
        const one = await upload(layer, key);
        const parts = [await one.part(1, size), await one.part(2, pick(9))];
        if (pick(3) === 0) return;
        await (pick(2) === 0 ? one.abort() : one.complete(parts.slice(0, 1)));
        return;
      }
      default: {
        const written = await layer.putObject(put('b', key, 'x'.repeat(size)));
        if (written.versionId !== undefined) ids.push(written.versionId);
      }
    }
  } catch (error) {
    if (!(error instanceof S3Error) || error.status >= 500) throw error;
  }
}

describe('whatever happens', () => {
  it.each(Array.from({ length: 16 }, (_, index) => index))(
    'the count is what the bucket holds (seed %i)',
    async (seed) => {
      const random = new Faults({ seed });
      const faults = new Faults({
        seed,
        latencyTicks: 2,
        conflict: 0.02,
        lostAfter: 0.01,
        lostBefore: 0.01,
        late: 0.01,
      });
      const records = new MemoryRecordStore({ faults });
      const { layer } = await bucketWith(undefined, records);
      const ids: string[] = [];
      for (let turn = 0; turn < 20; turn += 1) await change(layer, random, ids);
      const changes = Array.from({ length: 4 }, async () => {
        for (let turn = 0; turn < 15; turn += 1) await change(layer, random, ids);
      });
      await Promise.all([...changes, layer.putBucketQuota('b', 300)]);
      await Promise.all(
        Array.from({ length: 4 }, async () => {
          for (let turn = 0; turn < 15; turn += 1) await change(layer, random, ids);
        }),
      );
      expect(await used(layer)).toBe(await held(records));
    },
  );
});
