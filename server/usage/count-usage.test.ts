import { describe, expect, it } from 'vitest';
import { recordKeys } from '../objects/records/record-keys.ts';
import { put, testLayer } from '../objects/testing.ts';
import { filledLayer, LARGE, writeRecord } from '../maintenance/testing.ts';
import { countUsage } from './count-usage.ts';
import { namedSizes } from './size-intervals.ts';

const asFastAsItGoes = { recordsPerSecond: Infinity };

describe('countUsage', () => {
  it('adds up objects, their bytes and unfinished uploads of a bucket', async () => {
    const { records } = await filledLayer();
    const { buckets, unreadable } = await countUsage({ records, ...asFastAsItGoes });
    expect(unreadable).toBe(0);
    expect(buckets).toMatchObject([
      {
        bucket: 'bucket',
        objects: 7,
        bytes: 1_000 + 1_000 + LARGE + LARGE + 5 * 1024 * 1024 + 1_000 + LARGE,
        uploads: 1,
        uploadBytes: 2_000,
      },
    ]);
    expect(namedSizes(buckets[0]?.sizes ?? [])).toMatchObject({
      LESS_THAN_1024_B: 3,
      BETWEEN_256_KB_AND_512_KB: 3,
      BETWEEN_1024B_AND_1_MB: 3,
      BETWEEN_1_MB_AND_10_MB: 1,
    });
  });

  it('keeps buckets apart whose names begin alike, and tells of empty ones', async () => {
    const { layer, records } = testLayer();
    for (const bucket of ['ab', 'abc', 'abcd', 'zero']) await layer.createBucket(bucket, { location: '' });
    await layer.putObject(put('ab', 'x', '1'));
    await layer.putObject(put('abc', 'x', '22'));
    await layer.putObject(put('abc', 'y', '333'));
    await layer.putObject(put('abcd', 'x', '4444'));
    const { buckets } = await countUsage({ records, ...asFastAsItGoes });
    expect(buckets.map(({ bucket, objects, bytes }) => [bucket, objects, bytes])).toEqual([
      ['ab', 1, 1],
      ['abc', 2, 5],
      ['abcd', 1, 4],
      ['zero', 0, 0],
    ]);
  });

  it('goes from a long bucket name to a key that is shorter than it', async () => {
    const { layer, records } = testLayer();
    const long = `a${'0'.repeat(62)}`;
    for (const bucket of [long, 'bbb']) await layer.createBucket(bucket, { location: '' });
    await layer.putObject(put(long, 'x', '1'));
    await layer.putObject(put('bbb', 'y', '22'));
    const { buckets } = await countUsage({ records, ...asFastAsItGoes });
    expect(buckets.map(({ bucket, objects, bytes }) => [bucket, objects, bytes])).toEqual([
      [long, 1, 1],
      ['bbb', 1, 2],
    ]);
  });

  it('counts what is there now: neither what was replaced nor what was deleted', async () => {
    const { layer, records } = testLayer();
    await layer.createBucket('b', { location: '' });
    await layer.putObject(put('b', 'kept', 'long ago'));
    await layer.putObject(put('b', 'kept', 'now'));
    await layer.putObject(put('b', 'gone', 'gone'));
    await layer.deleteObject('b', 'gone');
    expect((await countUsage({ records, ...asFastAsItGoes })).buckets).toMatchObject([{ objects: 1, bytes: 3 }]);
  });

  it('goes on at a record that it cannot read, and says how many there were', async () => {
    const test = await filledLayer();
    await writeRecord(test, recordKeys.object('bucket', 'large'), Buffer.of(9, 9, 9));
    const { buckets, unreadable } = await countUsage({ records: test.records, ...asFastAsItGoes });
    expect(unreadable).toBe(1);
    expect(buckets).toMatchObject([{ objects: 7 }]);
  });

  it('ends when it is told to', async () => {
    const { layer, records } = testLayer();
    await layer.createBucket('b', { location: '' });
    for (let at = 0; at < 1_100; at += 1) await layer.putObject(put('b', `k${at}`, 'x'));
    const signal = AbortSignal.abort(new Error('stopped'));
    await expect(countUsage({ records, ...asFastAsItGoes, signal })).rejects.toThrow('stopped');
  });
});
