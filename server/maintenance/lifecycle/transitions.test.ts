import { describe, expect, it } from 'vitest';
import type { LifecycleRule } from '../../../protocol/s3/lifecycle/bucket-lifecycle.ts';
import { put } from '../../../test/support/objects/test-layer.ts';
import { tieredLayer } from '../../../test/support/objects/tiered-layer.ts';
import { lifecycleRounds, readLifecycleStates } from './lifecycle-rounds.ts';
import { unlimited } from '../pace.ts';

/** A day of a second, on a clock that the test sets. */
const dayMs = 1_000;

async function lifecycleLayer() {
  const test = tieredLayer();
  await test.layer.createBucket('bucket', { location: '' });
  const logged: object[] = [];
  const round = lifecycleRounds({
    dayMs,
    reads: unlimited,
    removalsPerSecond: Infinity,
    log: { info: () => undefined, warn: (fields: object) => void logged.push(fields) },
    clock: () => test.time.now,
  });
  const apply = () => round({ records: test.records, objects: test.layer, signal: new AbortController().signal });
  return { ...test, apply, logged };
}

const rule = (more: Partial<LifecycleRule>): LifecycleRule => ({ id: 'rule', enabled: true, filter: {}, ...more });

async function classes({ layer }: Pick<Awaited<ReturnType<typeof lifecycleLayer>>, 'layer'>) {
  const request = { bucket: 'bucket', prefix: '', delimiter: '', keyMarker: '', limit: 100 };
  const { versions } = await layer.listObjectVersions(request);
  return versions.map(
    ({ key, storageClass, deleteMarker }) => `${key} ${deleteMarker ? 'marker' : (storageClass ?? '-')}`,
  );
}

describe('the walk of a bucket with transitions', () => {
  it('moves current objects at midnight after their days, by prefix, size and tags', async () => {
    const test = await lifecycleLayer();
    const { layer, time, apply } = test;
    const filter = { prefix: 'a', greaterThan: 2, tags: { k: 'v' } };
    await layer.putBucketLifecycle('bucket', [rule({ filter, transition: { days: 1, tier: 'COLD' } })]);
    await layer.putObject(put('bucket', 'a', 'text', { tags: { k: 'v' } }));
    await layer.putObject(put('bucket', 'a-other-tag', 'text', { tags: { k: 'w' } }));
    await layer.putObject(put('bucket', 'a-small', 'x', { tags: { k: 'v' } }));
    await layer.putObject(put('bucket', 'b', 'text', { tags: { k: 'v' } }));
    time.now += dayMs;
    await apply();
    expect(await classes(test)).toEqual(['a -', 'a-other-tag -', 'a-small -', 'b -']);
    time.now += dayMs;
    await apply();
    expect(await classes(test)).toEqual(['a COLD', 'a-other-tag -', 'a-small -', 'b -']);
    expect((await readLifecycleStates(test.records)).get('bucket')).toMatchObject({ transitioned: 1, failed: 0 });
  });

  it('moves noncurrent versions, but the newest that stay, and those that are locked too', async () => {
    const test = await lifecycleLayer();
    const { layer, time, apply } = test;
    await layer.putBucketVersioning('bucket', { status: 'Enabled' });
    await layer.putObjectLockConfiguration('bucket', {});
    await layer.putBucketLifecycle('bucket', [rule({ noncurrentTransition: { days: 1, keep: 1, tier: 'COLD' } })]);
    for (const text of ['one', 'two', 'three']) {
      await layer.putObject(put('bucket', 'key', text, { lock: { legalHold: true } }));
    }
    await layer.deleteObject('bucket', 'key');
    time.now += 2 * dayMs;
    await apply();
    expect(await classes(test)).toEqual(['key marker', 'key -', 'key COLD', 'key COLD']);
  });

  it('expires what has moved, and removes it from its tier', async () => {
    const test = await lifecycleLayer();
    const { layer, time, apply, cold, collect } = test;
    await layer.putBucketLifecycle('bucket', [
      rule({ transition: { days: 1, tier: 'COLD' }, expiration: { days: 3 } }),
    ]);
    await layer.putObject(put('bucket', 'key', 'text'));
    time.now += 2 * dayMs;
    await apply();
    expect(await classes(test)).toEqual(['key COLD']);
    time.now += 2 * dayMs;
    await apply();
    time.now += 120_000;
    await collect();
    expect(await classes(test)).toEqual([]);
    expect(await Array.fromAsync(cold.list())).toEqual([]);
  });

  it('comes again where a tier was away, and then moves the rest', async () => {
    const test = await lifecycleLayer();
    const { layer, time, apply, state, logged } = test;
    await layer.putBucketLifecycle('bucket', [rule({ transition: { days: 1, tier: 'COLD' } })]);
    for (const key of ['a', 'b', 'c']) await layer.putObject(put('bucket', key, 'text'));
    time.now += 2 * dayMs;
    state.away = true;
    await apply();
    expect(logged.length).toBeGreaterThan(0);
    state.away = false;
    await apply();
    expect(await classes(test)).toEqual(['a -', 'b -', 'c -']);
    time.now += 60_000;
    await apply();
    expect(await classes(test)).toEqual(['a COLD', 'b COLD', 'c COLD']);
  });

  it('sends few bodies to a full tier, comes again, and then moves the rest', async () => {
    const test = await lifecycleLayer();
    const { layer, time, apply, state, refused, logged } = test;
    await layer.putBucketLifecycle('bucket', [rule({ transition: { days: 1, tier: 'COLD' } })]);
    const keys = Array.from({ length: 20 }, (_, at) => `k${String(at).padStart(2, '0')}`);
    for (const key of keys) await layer.putObject(put('bucket', key, 'text'));
    time.now += 2 * dayMs;
    state.full = true;
    await apply();
    expect(refused()).toBeLessThanOrEqual(4);
    expect(logged[0]).toMatchObject({ err: { message: 'the tier is full' } });
    state.full = false;
    const { retry } = (await readLifecycleStates(test.records)).get('bucket') ?? {};
    time.now = retry ?? 0;
    await apply();
    expect(await classes(test)).toEqual(keys.map((key) => `${key} COLD`));
  });

  it('begins again before the first page that met a tier that is away', async () => {
    const test = await lifecycleLayer();
    const { layer, records, time, apply, state } = test;
    const filter = { greaterThan: 10 };
    await layer.putBucketLifecycle('bucket', [rule({ filter, transition: { days: 1, tier: 'COLD' } })]);
    for (let at = 0; at < 1_001; at += 1) await layer.putObject(put('bucket', `k${String(at).padStart(4, '0')}`, 'x'));
    await layer.putObject(put('bucket', 'z', 'a longer text'));
    time.now += 2 * dayMs;
    state.away = true;
    await apply();
    const { after, retry } = (await readLifecycleStates(records)).get('bucket') ?? {};
    expect([after, (retry ?? 0) > time.now]).toEqual(['k0998', true]);
    state.away = false;
    time.now = retry ?? 0;
    await apply();
    expect((await classes(test)).at(-1)).toBe('k0099 -');
    expect((await layer.headObject('bucket', 'z')).storageClass).toBe('COLD');
  });
});
