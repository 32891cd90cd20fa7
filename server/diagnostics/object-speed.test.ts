import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { put, testLayer } from '../../test/support/objects/test-layer.ts';
import type { ObjectSpeed, ObjectSpeedOptions } from '../administration/diagnostics.ts';
import { encodeRecord } from '../objects/records/record-format.ts';
import { commitOnce } from '../store/commits.ts';
import { key } from '../store/keys.ts';
import { ExclusiveTasks } from './exclusive-task.ts';
import { measureObjects, type SpeedObjects } from './object-speed.ts';

const asked: ObjectSpeedOptions = {
  size: 1_000,
  concurrency: 2,
  durationMs: 50,
  autotune: false,
  bucket: undefined,
  keep: false,
};

function speedTest(free: number | undefined = 1e9) {
  const { layer, records } = testLayer();
  // Each look at the clock takes a millisecond, so that a measurement ends after some steps on any machine.
  let now = 0;
  const clock = () => (now += 1);
  const wall = { now: 1_000_000 };
  const tasks = new ExclusiveTasks({ records, owner: () => 'h:9000', random: randomBytes, clock: () => wall.now });
  const context = {
    objects: layer as SpeedObjects,
    tasks,
    free: () => Promise.resolve(free),
    random: randomBytes,
    clock,
  };
  const measure = async (options: Partial<ObjectSpeedOptions> = {}, signal = new AbortController().signal) => {
    const results: ObjectSpeed[] = [];
    for await (const one of measureObjects(context, { ...asked, ...options }, signal)) results.push(one);
    return results;
  };
  const buckets = async () => (await layer.listBuckets()).map(({ name }) => name);
  return { layer, records, tasks, context, measure, buckets, wall };
}

describe('a measurement of objects', () => {
  it('writes and reads, and leaves nothing', async () => {
    const { measure, buckets, tasks } = speedTest();
    const [result] = await measure();
    expect(result).toMatchObject({ size: 1_000, concurrency: 2 });
    expect(result?.writes.objectsPerSecond).toBeGreaterThan(0);
    expect(result?.reads.times.length).toBeGreaterThan(0);
    expect(result?.reads.firstByteTimes.length).toBe(result?.reads.times.length);
    expect(await buckets()).toEqual([]);
    expect(await tasks.list()).toEqual([]);
  });

  it('leaves nothing where the client disconnects', async () => {
    const { context, buckets, tasks } = speedTest();
    for await (const _result of measureObjects(context, { ...asked, autotune: true }, new AbortController().signal))
      break;
    expect([await buckets(), await tasks.list()]).toEqual([[], []]);
  });

  it('removes its objects alone from a bucket of the caller, with their versions', async () => {
    const { layer, measure } = speedTest();
    await layer.createBucket('own', { location: '' });
    await layer.putBucketVersioning('own', { status: 'Enabled' });
    await layer.putObject(put('own', 'key', '1'));
    await measure({ bucket: 'own' });
    const request = { bucket: 'own', prefix: '', delimiter: '', keyMarker: '', limit: 1_000 };
    expect((await layer.listObjectVersions(request)).versions.map((version) => version.key)).toEqual(['key']);
  });

  it('leaves objects in the bucket of a caller who asks for that', async () => {
    const { layer, measure } = speedTest();
    await layer.createBucket('own', { location: '' });
    await measure({ bucket: 'own', keep: true });
    const { objects } = await layer.listObjects({ bucket: 'own', prefix: '', delimiter: '', after: '', limit: 10 });
    expect(objects[0]?.key).toMatch(/^speedtest\//);
  });

  it('refuses a bucket with object lock, and one that is not there', async () => {
    const { layer, measure } = speedTest();
    await layer.createBucket('locked', { location: '', objectLock: true });
    await expect(measure({ bucket: 'locked' })).rejects.toMatchObject({ code: 'XCofferRefused' });
    await expect(measure({ bucket: 'absent' })).rejects.toMatchObject({ code: 'NoSuchBucket' });
  });

  it('refuses what would take more than a quarter of the free space', async () => {
    const { measure, buckets } = speedTest(7_999);
    await expect(measure()).rejects.toMatchObject({ code: 'XMinioSpeedtestInsufficientCapacity', status: 507 });
    expect(await buckets()).toEqual([]);
  });

  it('writes no more than a quarter of the free space', async () => {
    const { context } = speedTest(20_000);
    let written = 0;
    const counting = {
      ...context,
      objects: {
        ...context.objects,
        putObject: (request: Parameters<SpeedObjects['putObject']>[0]) => {
          written += Number(request.size);
          return context.objects.putObject(request);
        },
        createBucket: (...args: Parameters<SpeedObjects['createBucket']>) => context.objects.createBucket(...args),
        deleteBucket: (bucket: string) => context.objects.deleteBucket(bucket),
        getObject: (...args: Parameters<SpeedObjects['getObject']>) => context.objects.getObject(...args),
        deleteObject: (...args: Parameters<SpeedObjects['deleteObject']>) => context.objects.deleteObject(...args),
        listObjectVersions: (request: Parameters<SpeedObjects['listObjectVersions']>[0]) =>
          context.objects.listObjectVersions(request),
      },
    };
    for await (const _one of measureObjects(counting, { ...asked, durationMs: 60_000 }, new AbortController().signal))
      break;
    expect(written).toBe(5_000);
  });

  it('runs once at a time, and removes the bucket of a server that was killed', async () => {
    const { layer, records, measure, buckets, wall } = speedTest();
    const leaves = 'coffer-speedtest-0123456789abcdef';
    await layer.createBucket(leaves, { location: '' });
    await layer.putObject(put(leaves, 'speedtest/1', '1'));
    const killed = { task: 'speed test', id: '1', owner: 'gone:9000', since: 0, until: wall.now + 5, leaves };
    const record = { key: key('support-task', 'speed test'), value: encodeRecord(killed) };
    await commitOnce(records, { put: [record] }, randomBytes);
    await expect(measure()).rejects.toMatchObject({
      code: 'XCofferRefused',
      message: expect.stringContaining('gone:9000') as string,
    });
    wall.now += 10;
    await measure();
    expect(await buckets()).toEqual([]);
  });

  it('takes the place of an older task at once where no other server uses the records', async () => {
    const { records } = testLayer();
    const common = { records, random: randomBytes, clock: () => 1_000 };
    await new ExclusiveTasks({ ...common, owner: () => 'killed' }).begin('speed test', 5_000);
    const restarted = new ExclusiveTasks({ ...common, owner: () => 'h', soleSince: 1_001 });
    expect((await restarted.begin('speed test', 5_000)).killed).toMatchObject({ owner: 'killed' });
  });

  it('goes on with more at a time while that is faster, four times at most', async () => {
    const { measure } = speedTest();
    const results = await measure({ autotune: true });
    expect(results.length).toBeLessThanOrEqual(4);
    expect(results.map(({ concurrency }) => concurrency)).toEqual([2, 4, 8, 16].slice(0, results.length));
  });
});
