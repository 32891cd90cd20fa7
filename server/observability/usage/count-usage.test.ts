import { tieredLayer } from '../../../test/support/objects/tiered-layer.ts';
import { describe, expect, it, vi } from 'vitest';
import { recordKeys } from '../../objects/records/record-format.ts';
import { put, testLayer } from '../../../test/support/objects/test-layer.ts';
import { filledLayer, LARGE, writeRecord } from '../../../test/support/maintenance/filled-layer.ts';
import { countUsage, isDue, usageRounds } from './count-usage.ts';
import { namedSizes, namedVersionCounts } from './usage.ts';
import { setReadOnly } from '../../store/commits.ts';
import { within } from '../../store/keys.ts';
import { scanPages } from '../../store/record-store.ts';
import { createUsageReader } from './usage-record.ts';
import { unlimited } from '../../maintenance/pace.ts';

const asFastAsItGoes = { reads: unlimited };

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

  it('counts versions and delete markers where the bucket has some, and the bytes of all', async () => {
    const { layer, records } = testLayer();
    await layer.createBucket('b', { location: '' });
    await layer.createBucket('plain', { location: '' });
    await layer.putObject(put('plain', 'x', '1'));
    await layer.putObject(put('b', 'one', '1'));
    await layer.putObject(put('b', 'two', '22'));
    await layer.putBucketVersioning('b', { status: 'Enabled' });
    await layer.putObject(put('b', 'two', '333'));
    await layer.deleteObject('b', 'two');
    await layer.deleteObject('b', 'two');
    const { buckets } = await countUsage({ records, ...asFastAsItGoes });
    expect(buckets).toMatchObject([
      // `two`: two versions, and a delete marker before the current one.
      { bucket: 'b', objects: 1, versions: 5, deleteMarkers: 2, bytes: 1 + 2 + 3 },
      { bucket: 'plain', objects: 1, versions: 0, deleteMarkers: 0, bytes: 1 },
    ]);
  });

  it('counts what is in each tier', async () => {
    const { layer, records, move } = tieredLayer();
    await layer.createBucket('bucket', { location: '' });
    await layer.putBucketVersioning('bucket', { status: 'Enabled' });
    for (const text of ['12345', '123']) {
      const { versionId } = await layer.putObject(put('bucket', 'key', text));
      await move('key', versionId);
    }
    await layer.putObject(
      put('bucket', 'here', 'text', { headers: { metadata: {}, storageClass: 'REDUCED_REDUNDANCY' } }),
    );
    const { tiers } = await countUsage({ records, reads: unlimited });
    expect(tiers).toEqual({ COLD: { objects: 1, versions: 2, bytes: 8 } });
  });

  it('counts the keys of a bucket by the intervals of MinIO for their versions', async () => {
    const { layer, records } = testLayer();
    await layer.createBucket('b', { location: '' });
    await layer.createBucket('plain', { location: '' });
    await layer.putObject(put('plain', 'x', '1'));
    await layer.putBucketVersioning('b', { status: 'Enabled' });
    for (const [key, count] of [
      ['1', 1],
      ['2', 2],
      ['2\0', 2],
      ['9', 9],
      ['10', 10],
      ['99', 99],
      ['100', 100],
    ] as const) {
      for (let at = 0; at < count; at += 1) await layer.putObject(put('b', key, ''));
    }
    await layer.deleteObject('b', '1');
    await layer.deleteObject('b', 'only a marker');
    const { buckets } = await countUsage({ records, ...asFastAsItGoes });
    const none = { BETWEEN_1000_AND_10000: 0, GREATER_THAN_10000: 0 };
    expect(buckets.map(namedVersionCounts)).toEqual([
      {
        UNVERSIONED: 0,
        SINGLE_VERSION: 1,
        BETWEEN_2_AND_10: 4,
        BETWEEN_10_AND_100: 2,
        BETWEEN_100_AND_1000: 1,
        ...none,
      },
      {
        UNVERSIONED: 1,
        SINGLE_VERSION: 0,
        BETWEEN_2_AND_10: 0,
        BETWEEN_10_AND_100: 0,
        BETWEEN_100_AND_1000: 0,
        ...none,
      },
    ]);
  });

  it('goes on at a record that it cannot read, and says how many there were', async () => {
    const test = await filledLayer();
    await writeRecord(test, recordKeys.object('bucket', 'large'), Buffer.of(9, 9, 9));
    const { buckets, unreadable } = await countUsage({ records: test.records, ...asFastAsItGoes });
    expect(unreadable).toBe(1);
    expect(buckets).toMatchObject([{ objects: 7 }]);
  });

  it.each([
    ['without a head', Buffer.of(9, 9, 9)],
    ['that ends inside its head', Buffer.of(3, 0)],
  ])('counts a noncurrent version %s once as unreadable', async (_, damaged) => {
    const { layer, records } = testLayer();
    await layer.createBucket('b', { location: '' });
    await layer.putBucketVersioning('b', { status: 'Enabled' });
    await layer.putObject(put('b', 'key', 'older'));
    await layer.putObject(put('b', 'key', 'newer'));
    const [page = []] = await Array.fromAsync(scanPages(records, within('v')));
    for (const item of page) if (item.kind === 'entry') await writeRecord({ records }, item.key, damaged);
    const { buckets, unreadable } = await countUsage({ records, ...asFastAsItGoes });
    expect([unreadable, buckets]).toMatchObject([1, [{ objects: 1, versions: 2, bytes: 5 }]]);
  });

  it('ends when it is told to', async () => {
    const { layer, records } = testLayer();
    await layer.createBucket('b', { location: '' });
    for (let at = 0; at < 1_100; at += 1) await layer.putObject(put('b', `k${at}`, 'x'));
    const signal = AbortSignal.abort(new Error('stopped'));
    await expect(countUsage({ records, ...asFastAsItGoes, signal })).rejects.toThrow('stopped');
  });
});

const minute = 60_000;

async function counting(options: { readonly cycleMs?: number } = {}) {
  const { layer, records } = testLayer();
  await layer.createBucket('b', { location: '' });
  let now = 1_000_000;
  const clock = () => now;
  const log = { info: vi.fn(), warn: vi.fn() };
  const round = usageRounds({ cycleMs: minute, reads: unlimited, log, clock, ...options });
  return {
    layer,
    records,
    log,
    reader: createUsageReader(records),
    round: () => round({ records }),
    pass: (ms: number) => void (now += ms),
  };
}

describe('usageRounds', () => {
  it('keeps what it has counted, with its time', async () => {
    const { layer, round, reader } = await counting();
    expect(await reader.last()).toBeUndefined();
    await layer.putObject(put('b', 'k', 'content'));
    await round();
    expect(await reader.last()).toMatchObject({
      began: 1_000_000,
      ended: 1_000_000,
      objects: 1,
      bytes: 7,
      buckets: [{ bucket: 'b', objects: 1, bytes: 7 }],
    });
  });

  it('rests for a cycle', async () => {
    const { layer, round, reader, pass } = await counting();
    await round();
    await layer.putObject(put('b', 'k', 'content'));
    pass(minute - 1);
    await round();
    expect(await reader.last()).toMatchObject({ objects: 0 });
    pass(1);
    await round();
    expect(await reader.last()).toMatchObject({ objects: 1 });
  });

  it('counts on demand, and answers all callers who asked before it began', async () => {
    const { layer, round, reader } = await counting({ cycleMs: 0 });
    await round();
    expect(await reader.last()).toBeUndefined();
    await layer.putObject(put('b', 'k', 'content'));
    const asked = [reader.countNow(), reader.countNow()];
    await vi.waitFor(async () => {
      await round();
      expect(await reader.last()).toMatchObject({ answers: 2 });
    });
    expect((await Promise.all(asked)).map(({ objects }) => objects)).toEqual([1, 1]);
  });

  it('leaves a store alone that is read-only', async () => {
    const { records, round, reader } = await counting();
    await setReadOnly(records, true);
    await round();
    expect(await reader.last()).toBeUndefined();
  });

  it('stops asking when the server stops', async () => {
    const { reader } = await counting();
    await expect(reader.countNow(AbortSignal.abort(new Error('stopped')))).rejects.toThrow(/abort/i);
  });
});

describe('isDue', () => {
  const last = { began: 1_000, ended: 1_010, answers: 3, unreadable: 0 };
  it.each([
    ['the first count, at once', { last: undefined, asked: 0 }, 0, minute, true],
    ['no count without a cycle', { last: undefined, asked: 0 }, 0, 0, false],
    ['no count within the cycle', { last, asked: 3 }, 1_010 + minute - 1, minute, false],
    ['a count after the cycle', { last, asked: 3 }, 1_010 + minute, minute, true],
    ['a count that is asked for', { last, asked: 4 }, 1_011, minute, true],
    ['a count that is asked for, without a cycle', { last: undefined, asked: 1 }, 0, 0, true],
    [
      'no count for nine times what the last one took',
      { last: { ...last, ended: 101_000 }, asked: 3 },
      1_000_999,
      minute,
      false,
    ],
    ['a count after that', { last: { ...last, ended: 101_000 }, asked: 3 }, 1_001_000, minute, true],
    ['a count after the clock was set back', { last, asked: 3 }, 999, minute, true],
  ])('has %s', (_what, state, now, cycleMs, due) => {
    expect(isDue(state, now, cycleMs)).toBe(due);
  });
});
