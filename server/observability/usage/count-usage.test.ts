import { tieredLayer } from '../../../test/support/objects/tiered-layer.ts';
import { describe, expect, it, vi } from 'vitest';
import { recordKeys } from '../../objects/records/record-format.ts';
import { put, testLayer } from '../../../test/support/objects/test-layer.ts';
import { filledLayer, LARGE, writeRecord } from '../../../test/support/maintenance/filled-layer.ts';
import { countUsage, isDue, usageRounds } from './count-usage.ts';
import { namedSizes, namedVersionCounts } from './usage.ts';
import { setReadOnly } from '../../store/commits.ts';
import { within } from '../../store/keys.ts';
import { type RecordStore, scanPages } from '../../store/record-store.ts';
import { countProgressKey, isUsable } from './count-progress.ts';
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

/** Three buckets with versions, delete markers, prefixes and uploads. */
async function severalBuckets() {
  const { layer, records } = testLayer();
  for (const bucket of ['a', 'b', 'c']) {
    await layer.createBucket(bucket, { location: '' });
    if (bucket !== 'c') await layer.putBucketVersioning(bucket, { status: 'Enabled' });
    const rule = { id: 'all', arn: 'arn:minio:sqs::T:webhook', target: 'T:webhook', events: ['s3:Scanner:*'] };
    await layer.putBucketNotification(bucket, [rule], { test: false });
    for (const key of ['x/1', 'x/y/2', 'x/z/3', 'w']) {
      for (let at = 0; at < (key === 'w' ? 4 : 2); at += 1) await layer.putObject(put(bucket, key, key.repeat(at + 1)));
    }
    if (bucket !== 'c') await layer.deleteObject(bucket, 'x/1');
    await layer.createMultipartUpload({ bucket, key: 'up', headers: { metadata: {} } });
  }
  return { layer, records };
}

describe('a count that is interrupted', () => {
  it('continues after any page, with the sums and the alerts of one that is not', async () => {
    const { records } = await severalBuckets();
    const options = { records, ...asFastAsItGoes, limits: { versions: 4, bytes: 5, folders: 1 } };
    const pages: string[] = [];
    const whole = await countUsage({
      ...options,
      checkpoint: async (progress) => {
        const { table, after, tally } = progress();
        pages.push(JSON.stringify({ table, after: after.toString('base64'), tally }));
      },
    });
    expect(pages.length).toBeGreaterThan(4);
    expect(whole.alerts.length).toBeGreaterThan(2);
    for (const page of pages) {
      const { after, ...rest } = JSON.parse(page) as { after: string; table: 'o'; tally: never };
      const from = { ...rest, after: Buffer.from(after, 'base64') };
      expect(await countUsage({ ...options, from })).toEqual(whole);
    }
  });

  it('leaves out the sums of a bucket that is gone', async () => {
    const { layer, records } = await counting();
    await layer.createBucket('gone', { location: '' });
    await layer.putObject(put('b', 'k', '1'));
    await layer.putObject(put('gone', 'k', '22'));
    let from: Parameters<typeof countUsage>[0]['from'];
    await countUsage({ records, ...asFastAsItGoes, checkpoint: async (progress) => void (from = progress()) });
    await layer.deleteObject('gone', 'k');
    await layer.deleteBucket('gone');
    const { buckets } = await countUsage({ records, ...asFastAsItGoes, from });
    expect(buckets).toMatchObject([{ bucket: 'b', objects: 1, bytes: 1 }]);
  });

  it('is continued by the next round, and answers those who asked before it began', async () => {
    const { layer, records, reader, round, pass } = await counting({ saveMs: 0 });
    await layer.putObject(put('b', 'k', 'content'));
    const failing = { ...bound(records), commit: failAfter(1, records) };
    await expect(round(failing)).rejects.toThrow('the server stops');
    pass(5_000);
    await layer.putObject(put('b', 'a', 'before the last record that was counted'));
    await round();
    expect(await reader.last()).toMatchObject({ began: 1_000_000, ended: 1_005_000, objects: 1, bytes: 7 });
    pass(minute);
    await round();
    expect(await reader.last()).toMatchObject({ began: 1_065_000, objects: 2 });
  });
});

/** The methods of a store, so that one of them can be another. */
function bound(records: RecordStore): RecordStore {
  return {
    ...records,
    get: (key) => records.get(key),
    getAll: (keys) => records.getAll(keys),
    scan: (range) => records.scan(range),
    outcome: (id) => records.outcome(id),
    commit: (batch) => records.commit(batch),
    close: () => records.close(),
  };
}

function failAfter(commits: number, records: RecordStore): RecordStore['commit'] {
  let done = 0;
  return (batch) => {
    done += 1;
    return done > commits ? Promise.reject(new Error('the server stops')) : records.commit(batch);
  };
}

describe('the progress of a count', () => {
  const last = { began: 1_000, ended: 2_000, answers: 1, unreadable: 0 };
  it.each([
    ['is used', 2_000, 3_000, true],
    ['is not used where another count has ended since', 1_999, 3_000, false],
    ['is not used after three days', 2_000, 2_000 + 3 * 86_400_000, false],
    ['is not used after the clock was set back', 4_000, 3_000, false],
  ])('%s', (_, began, now, usable) => {
    expect(isUsable({ began }, { last }, now)).toBe(usable);
  });

  it('that cannot be read is as none', async () => {
    const { records, round, reader } = await counting();
    const id = '0'.repeat(32);
    await records.commit({ id, put: [{ key: countProgressKey, value: Buffer.from('damaged') }] });
    await round();
    expect(await reader.last()).toMatchObject({ objects: 0 });
  });
});

const minute = 60_000;

async function counting(options: { readonly cycleMs?: number; readonly saveMs?: number } = {}) {
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
    round: (by: RecordStore = records) => round({ records: by }),
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
