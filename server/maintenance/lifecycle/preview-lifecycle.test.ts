import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LifecycleRule } from '../../../protocol/s3/lifecycle/bucket-lifecycle.ts';
import { put, testLayer } from '../../../test/support/objects/test-layer.ts';
import type { ObjectLayer } from '../../objects/contract/object-layer.ts';
import { lifecycleRounds } from './lifecycle-rounds.ts';
import { previewLifecycle } from './preview-lifecycle.ts';
import { unlimited } from '../pace.ts';

/** A day of a second, on a clock that the test sets. */
const dayMs = 1_000;
const bucket = 'bucket';

async function previewedBucket(versions = true) {
  const time = { now: 1_000_000 };
  const test = testLayer({ clock: () => time.now, lifecycleDayMs: dayMs });
  await test.layer.createBucket(bucket, { location: '' });
  if (versions) await test.layer.putBucketVersioning(bucket, { status: 'Enabled' });
  const preview = (rules: readonly LifecycleRule[], maxVersions?: number) =>
    previewLifecycle({ objects: test.layer, bucket, rules, now: time.now, dayMs, maxVersions });
  return { ...test, time, preview };
}

const rule = (more: Partial<LifecycleRule>): LifecycleRule => ({ id: 'rule', enabled: true, filter: {}, ...more });
const store = (layer: ObjectLayer, key: string, body = 'body') => layer.putObject(put(bucket, key, body));
const none = { objects: 0, versions: 0, markers: 0, uploads: 0, bytes: 0 };

describe('the preview of lifecycle rules', () => {
  it('tells what is due, what follows, and what stays', async () => {
    const { layer, time, preview } = await previewedBucket(false);
    await store(layer, 'logs/old');
    await store(layer, 'other');
    time.now += 5 * dayMs;
    await store(layer, 'logs/new', '12');
    expect(await preview([rule({ filter: { prefix: 'logs/' }, expiration: { days: 3 } })])).toEqual({
      due: { ...none, objects: 1, bytes: 4 },
      later: { ...none, objects: 1, bytes: 2 },
      examples: [
        { key: 'logs/old', size: 4, what: 'object', due: true },
        { key: 'logs/new', size: 2, what: 'object', due: false },
      ],
      read: 2,
      complete: true,
      ignoresTags: false,
    });
  });

  it('counts old versions except those that are kept, and lone markers', async () => {
    const { layer, time, preview } = await previewedBucket();
    for (const body of ['1', '22', '333']) await store(layer, 'a', body);
    await layer.deleteObject(bucket, 'gone');
    time.now += 5 * dayMs;
    const { due, later } = await preview([
      rule({ noncurrent: { days: 1, keep: 1 }, expiration: { loneMarkers: true } }),
    ]);
    expect(due).toEqual({ ...none, versions: 1, markers: 1, bytes: 1 });
    expect(later).toEqual(none);
  });

  it('says where it did not read all, and where it reads no tags', async () => {
    const { layer, preview } = await previewedBucket(false);
    for (const key of ['a', 'b', 'c']) await store(layer, key);
    const tagged = rule({ filter: { tags: { temp: 'yes' } }, expiration: { days: 1 } });
    expect(await preview([tagged], 2)).toMatchObject({ read: 2, complete: false, ignoresTags: true });
    expect(await preview([{ ...tagged, enabled: false }])).toMatchObject({ complete: true, ignoresTags: false });
  });

  it('names as many as the next run of the lifecycle removes', async () => {
    const days = fc.integer({ min: 1, max: 3 });
    const rules = fc.array(
      fc.oneof(
        days.map((count) => rule({ expiration: { days: count } })),
        days.map((count) => rule({ filter: { prefix: 'b' }, noncurrent: { days: count, keep: 1 } })),
        fc.constant(rule({ expiration: { loneMarkers: true } })),
        days.map((count) => rule({ expiration: { days: count, allVersions: true } })),
        days.map((count) => rule({ markerDays: count })),
      ),
      { minLength: 1, maxLength: 3 },
    );
    const steps = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'bb'), fc.constantFrom('put', 'delete', 'wait')), {
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(rules, steps, async (given, changes) => {
        const { layer, records, time, preview } = await previewedBucket();
        for (const [key, change] of changes) {
          if (change === 'put') await store(layer, key);
          else if (change === 'delete') await layer.deleteObject(bucket, key);
          time.now += change === 'wait' ? 2 * dayMs : 1;
        }
        const numbered = given.map((one, at) => ({ ...one, id: `rule-${at}` }));
        const { due } = await preview(numbered);
        await layer.putBucketLifecycle(bucket, numbered);
        let counts = { expired: 0, removed: 0 };
        const info = (fields: object) => void (counts = { ...counts, ...fields });
        const round = lifecycleRounds({
          dayMs,
          reads: unlimited,
          removalsPerSecond: Infinity,
          log: { info, warn: () => undefined },
          clock: () => time.now,
        });
        await round({ records, objects: layer, signal: new AbortController().signal });
        expect({ expired: due.objects, removed: due.versions + due.markers }).toMatchObject({
          expired: counts.expired,
          removed: counts.removed,
        });
      }),
      { numRuns: 25 },
    );
  });
});
