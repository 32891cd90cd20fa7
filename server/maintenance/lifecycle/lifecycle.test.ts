import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LifecycleFilter, LifecycleRule } from '../../../protocol/s3/lifecycle/bucket-lifecycle.ts';
import { damageRecord, put, testLayer } from '../../../test/support/objects/test-layer.ts';
import type { ListedVersion, ObjectLayer } from '../../objects/contract/object-layer.ts';
import { replicatedRule, replicatedTarget } from '../../../test/support/replication/replicated-rule.ts';
import { lifecycleRounds, readLifecycleStates } from './lifecycle-rounds.ts';
import { unlimited } from '../pace.ts';

/** A day of a second, on a clock that the test sets. */
const dayMs = 1_000;

async function lifecycleLayer(start = 1_000_000) {
  const time = { now: start };
  const logged: object[] = [];
  const log = { info: () => undefined, warn: (fields: object) => void logged.push(fields) };
  const test = testLayer({ clock: () => time.now, lifecycleDayMs: dayMs });
  await test.layer.createBucket('bucket', { location: '' });
  const round = lifecycleRounds({
    dayMs,
    reads: unlimited,
    removalsPerSecond: Infinity,
    log,
    clock: () => time.now,
  });
  const apply = (objects: ObjectLayer = test.layer, signal = new AbortController().signal) =>
    round({ records: test.records, objects, signal });
  return { ...test, time, apply, logged };
}

const rule = (more: Partial<LifecycleRule>): LifecycleRule => ({ id: 'rule', enabled: true, filter: {}, ...more });

async function listAll(layer: ObjectLayer): Promise<readonly ListedVersion[]> {
  const request = { bucket: 'bucket', prefix: '', delimiter: '', keyMarker: '', limit: 10_000 };
  return (await layer.listObjectVersions(request)).versions;
}

const keysOf = async (layer: ObjectLayer) => (await listAll(layer)).map(({ key }) => key);

describe('a walk of a bucket', () => {
  it('does not keep other buckets waiting where a record is damaged, and fails at the end', async () => {
    const made = await lifecycleLayer();
    const { layer, time, apply } = made;
    await layer.createBucket('aaa', { location: '' });
    for (const bucket of ['aaa', 'bucket']) {
      await layer.putObject(put(bucket, 'key', '1'));
      await layer.putBucketLifecycle(bucket, [rule({ expiration: { days: 1 } })]);
    }
    await damageRecord(made, 'aaa', 'key');
    time.now += 2 * dayMs;
    await expect(apply()).rejects.toMatchObject({ code: 'unreadable-record' });
    expect(await keysOf(layer)).toEqual([]);
  });

  it('removes what is due and nothing else', async () => {
    const { layer, time, apply } = await lifecycleLayer();
    await layer.putObject(put('bucket', 'old/a', '1'));
    await layer.putObject(put('bucket', 'other', '1'));
    await layer.putBucketLifecycle('bucket', [rule({ filter: { prefix: 'old/' }, expiration: { days: 2 } })]);
    time.now += 2 * dayMs;
    await layer.putObject(put('bucket', 'old/b', '1'));
    await apply();
    expect(await keysOf(layer)).toEqual(['old/a', 'old/b', 'other']);
    time.now += dayMs;
    await apply();
    expect(await keysOf(layer)).toEqual(['old/b', 'other']);
  });

  it('happens once a day, and again when the rules change', async () => {
    const { layer, time, apply, records } = await lifecycleLayer();
    await layer.putBucketLifecycle('bucket', [rule({ expiration: { days: 1 } })]);
    await layer.putObject(put('bucket', 'a', '1'));
    const began = async () => (await readLifecycleStates(records)).get('bucket')?.began;
    await apply();
    const first = await began();
    time.now += 10;
    await apply();
    expect(await began()).toBe(first);
    await layer.putBucketLifecycle('bucket', [rule({ expiration: { days: 2 } })]);
    await apply();
    expect(await began()).toBe(time.now);
    time.now += dayMs;
    await apply();
    expect(await began()).toBe(time.now);
  });

  it('forgets a bucket without rules', async () => {
    const { layer, apply, records } = await lifecycleLayer();
    await layer.putBucketLifecycle('bucket', [rule({ expiration: { days: 1 } })]);
    await apply();
    expect((await readLifecycleStates(records)).size).toBe(1);
    await layer.deleteBucketLifecycle('bucket');
    await apply();
    expect((await readLifecycleStates(records)).size).toBe(0);
  });

  it('goes on behind the last finished page after it was interrupted', async () => {
    const { layer, time, apply, records } = await lifecycleLayer();
    for (let index = 0; index < 1_100; index += 1) {
      await layer.putObject(put('bucket', `key-${String(index).padStart(5, '0')}`, ''));
    }
    await layer.putBucketLifecycle('bucket', [rule({ expiration: { days: 1 } })]);
    time.now += 2 * dayMs;
    const stopping = new AbortController();
    let removed = 0;
    const stopped: ObjectLayer = {
      ...layer,
      expireObject(bucket, key, request) {
        removed += 1;
        if (removed === 1_050) stopping.abort(new Error('the server stops'));
        return layer.expireObject(bucket, key, request);
      },
    };
    await expect(apply(stopped, stopping.signal)).rejects.toThrow('the server stops');
    expect((await readLifecycleStates(records)).get('bucket')).toMatchObject({ after: 'key-00998', expired: 1_000 });
    await apply();
    expect(await keysOf(layer)).toEqual([]);
    expect((await readLifecycleStates(records)).get('bucket')).toMatchObject({ ended: time.now });
  });

  it('leaves an object that was replaced since it was read', async () => {
    const { layer, time, apply } = await lifecycleLayer();
    await layer.putObject(put('bucket', 'a', 'old'));
    await layer.putBucketLifecycle('bucket', [rule({ expiration: { days: 1 } })]);
    time.now += 3 * dayMs;
    const replacing: ObjectLayer = {
      ...layer,
      async expireObject(bucket, key, request) {
        await layer.putObject(put('bucket', 'a', 'new'));
        return layer.expireObject(bucket, key, request);
      },
    };
    await apply(replacing);
    expect(await listAll(layer)).toMatchObject([{ key: 'a', size: 3, modified: time.now }]);
  });

  it('leaves a noncurrent version that became current since it was read', async () => {
    const { layer, time, apply } = await lifecycleLayer();
    await layer.putBucketVersioning('bucket', { status: 'Enabled' });
    const { versionId } = await layer.putObject(put('bucket', 'a', 'old'));
    const newer = await layer.putObject(put('bucket', 'a', 'newer'));
    await layer.putBucketLifecycle('bucket', [rule({ noncurrent: { days: 1 } })]);
    time.now += 3 * dayMs;
    const promoting: ObjectLayer = {
      ...layer,
      async expireObject(bucket, key, request) {
        await layer.deleteObject('bucket', 'a', { versionId: newer.versionId });
        return layer.expireObject(bucket, key, request);
      },
    };
    await apply(promoting);
    expect(await listAll(layer)).toMatchObject([{ key: 'a', versionId, isLatest: true }]);
  });

  it('goes on behind an object that cannot be removed, and says which it is', async () => {
    const { layer, time, apply, logged, records } = await lifecycleLayer();
    for (const key of ['a', 'b', 'c']) await layer.putObject(put('bucket', key, '1'));
    await layer.putBucketLifecycle('bucket', [rule({ expiration: { days: 1 } })]);
    time.now += 3 * dayMs;
    const { S3Error } = await import('../../../protocol/s3/s3-error.ts');
    await apply({
      ...layer,
      expireObject: (bucket, key, request) =>
        key === 'b' ? Promise.reject(new S3Error('SlowDown')) : layer.expireObject(bucket, key, request),
    });
    expect(await keysOf(layer)).toEqual(['b']);
    expect(logged).toMatchObject([{ bucket: 'bucket', key: 'b' }]);
    expect((await readLifecycleStates(records)).get('bucket')).toMatchObject({ expired: 2, failed: 1 });
  });

  it('aborts unfinished uploads', async () => {
    const { layer, time, apply } = await lifecycleLayer();
    const request = { bucket: 'bucket', headers: { metadata: {} } };
    await layer.createMultipartUpload({ ...request, key: 'old' });
    await layer.putBucketLifecycle('bucket', [rule({ abortUploadsDays: 1 })]);
    time.now += 2 * dayMs;
    await layer.createMultipartUpload({ ...request, key: 'young' });
    await apply();
    const listing = { bucket: 'bucket', prefix: '', delimiter: '', afterKey: '', afterUploadId: '', limit: 10 };
    expect((await layer.listMultipartUploads(listing)).uploads.map(({ key }) => key)).toEqual(['young']);
  });

  it('keeps the current version where a locked one would become current', async () => {
    const { layer, time, apply, records } = await lifecycleLayer();
    await layer.putBucketLifecycle('bucket', [rule({ expiration: { days: 1, allVersions: true } })]);
    await layer.putBucketVersioning('bucket', { status: 'Enabled' });
    await layer.putObjectLockConfiguration('bucket', {});
    const { versionId } = await layer.putObject(put('bucket', 'a', 'locked', { lock: { legalHold: true } }));
    await layer.putObject(put('bucket', 'a', 'free'));
    await layer.putObject(put('bucket', 'b', 'free'));
    time.now += 3 * dayMs;
    await apply();
    expect(await listAll(layer)).toMatchObject([
      { key: 'a', isLatest: true },
      { key: 'a', versionId },
    ]);
    expect((await readLifecycleStates(records)).get('bucket')).toMatchObject({ expired: 1, locked: 1 });
  });

  it('leaves what a replication target has not got, and says so', async () => {
    const { layer, time, apply, records, logged } = await lifecycleLayer();
    await layer.putBucketLifecycle('bucket', [rule({ noncurrent: { days: 1 } })]);
    await layer.putBucketVersioning('bucket', { status: 'Enabled' });
    await layer.putBucketReplication('bucket', { rules: [replicatedRule] });
    const versions = [];
    for (const text of ['sent', 'refused', 'waits', 'current']) {
      time.now += 1;
      const { versionId = '' } = await layer.putObject(put('bucket', 'a', text));
      versions.push({ bucket: 'bucket', key: 'a', versionId, target: replicatedTarget, changed: undefined });
    }
    const [sent, refused, waits, current] = versions;
    if (sent === undefined || refused === undefined) throw new Error('no versions');
    await layer.setReplicationStatus({ ...sent, status: 'COMPLETED' });
    await layer.setReplicationStatus({ ...refused, status: 'FAILED', refused: 'no space' });
    time.now += 3 * dayMs;
    await apply();
    expect((await listAll(layer)).map(({ versionId }) => versionId)).toEqual(
      [current, waits, refused].map((one) => one?.versionId),
    );
    expect((await readLifecycleStates(records)).get('bucket')).toMatchObject({ removed: 1, waiting: 2 });
    expect(logged).toContainEqual({ event: 'lifecycle-waits', bucket: 'bucket', versions: 2 });
    // Without the rule nothing waits.
    await layer.putBucketReplication('bucket', undefined);
    time.now += dayMs;
    await apply();
    expect(await listAll(layer)).toHaveLength(1);
  });

  it('is refused with rules that remove all versions in a bucket with object lock', async () => {
    const { layer } = await lifecycleLayer();
    await layer.createBucket('locked', { location: '', objectLock: true });
    for (const more of [{ markerDays: 1 }, { expiration: { days: 1, allVersions: true as const } }]) {
      await expect(layer.putBucketLifecycle('locked', [rule(more)])).rejects.toMatchObject({ code: 'InvalidRequest' });
    }
  });
});

/** A version with all that rules look at, as the model of the walk knows it. */
interface ModelVersion extends ListedVersion {
  readonly tags: Readonly<Record<string, string>>;
  readonly locked: boolean;
}

const dayOf = (time: number) => Math.floor(time / dayMs);

function matches(version: ModelVersion, filter: LifecycleFilter): boolean {
  return (
    version.key.startsWith(filter.prefix ?? '') &&
    (!version.deleteMarker ||
      (filter.tags === undefined && filter.greaterThan === undefined && filter.lessThan === undefined)) &&
    Object.entries(filter.tags ?? {}).every(([name, value]) => version.tags[name] === value) &&
    (filter.greaterThan === undefined || version.size > filter.greaterThan) &&
    (filter.lessThan === undefined || version.size < filter.lessThan)
  );
}

/** What the rules leave of the versions of one key, newest first. It is written apart from the code that it checks. */
function survivors(
  versions: readonly ModelVersion[],
  rules: readonly LifecycleRule[],
  { now, versioning }: { readonly now: number; readonly versioning: 'Enabled' | 'Suspended' | undefined },
): readonly string[] {
  const isOld = (time: number, days: number) => (days === 0 ? time <= now : dayOf(now) - dayOf(time) > days);
  const [current, ...older] = versions;
  if (current === undefined) return [];
  const ofCurrent = rules.filter(({ enabled, filter }) => enabled && matches(current, filter));
  const aged = ofCurrent.filter(
    ({ expiration }) =>
      expiration !== undefined &&
      (('days' in expiration && isOld(current.modified, expiration.days)) ||
        ('date' in expiration && expiration.date <= now)),
  );
  const all = current.deleteMarker
    ? ofCurrent.some(({ markerDays }) => markerDays !== undefined && isOld(current.modified, markerDays))
    : aged.some(({ expiration }) => expiration !== undefined && 'allVersions' in expiration);
  const due = new Set<ModelVersion>();
  for (const [index, version] of older.entries()) {
    const replacedAt = versions[index]?.modified ?? 0;
    const isDue = rules.some(
      ({ enabled, filter, noncurrent }) =>
        enabled &&
        noncurrent !== undefined &&
        matches(version, filter) &&
        index >= (noncurrent.keep ?? 0) &&
        isOld(replacedAt, noncurrent.days),
    );
    if ((all || isDue) && !version.locked) due.add(version);
  }
  const added: string[] = [];
  if (all) {
    if (!current.locked && older.every((version) => due.has(version))) due.add(current);
  } else if (current.deleteMarker) {
    const markersGo = ofCurrent.some(({ expiration }) => expiration !== undefined && 'loneMarkers' in expiration);
    if (older.length === 0 && (markersGo || aged.length > 0)) due.add(current);
  } else if (aged.length > 0) {
    if (versioning !== undefined) added.push('new marker');
    // A null marker replaces the null version.
    const replaced = versioning === 'Enabled' ? [] : versions.filter(({ versionId }) => versionId === 'null');
    for (const version of replaced) due.add(version);
  }
  return [...added, ...versions.filter((version) => !due.has(version)).map(({ versionId }) => versionId)];
}

describe('the walk and its model', () => {
  const filter = fc.constantFrom<LifecycleFilter>(
    {},
    { prefix: 'a' },
    { tags: { k: 'v' } },
    { greaterThan: 1 },
    { lessThan: 2 },
    { prefix: 'b', tags: { k: 'v' }, greaterThan: 0 },
  );
  const days = fc.integer({ min: 1, max: 4 });
  const ruleArbitrary = fc.record(
    {
      enabled: fc.constantFrom(true, true, true, false),
      filter,
      expiration: fc.oneof(
        fc.record({ days }),
        fc.record({ days, allVersions: fc.constant(true as const) }),
        fc.constantFrom({ date: 1_003_000 }, { loneMarkers: true as const }),
      ),
      noncurrent: fc.record(
        { days: fc.integer({ min: 0, max: 4 }), keep: fc.integer({ min: 1, max: 3 }) },
        { requiredKeys: ['days'] },
      ),
      markerDays: days,
    },
    { requiredKeys: ['enabled', 'filter'] },
  );
  const operation = fc.record({
    kind: fc.constantFrom('put', 'put', 'put', 'delete', 'delete-version', 'wait', 'wait', 'suspend', 'enable'),
    key: fc.constantFrom('a', 'a/b', 'b', 'c'),
    tagged: fc.boolean(),
    size: fc.integer({ min: 0, max: 3 }),
    hold: fc.boolean(),
    ms: fc.integer({ min: 1, max: 2_500 }),
  });

  it('agree about every version, after any operations', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('none', 'versions', 'lock'),
        fc.array(operation, { minLength: 5, maxLength: 40, size: 'max' }),
        fc.array(ruleArbitrary, { minLength: 1, maxLength: 3, size: 'max' }),
        fc.integer({ min: 0, max: 6_000 }),
        async (kind, operations, drawn, rest) => {
          const { layer, time, apply } = await lifecycleLayer();
          if (kind !== 'none') await layer.putBucketVersioning('bucket', { status: 'Enabled' });
          if (kind === 'lock') await layer.putObjectLockConfiguration('bucket', {});
          for (const { kind: what, key, tagged, size, hold, ms } of operations) {
            if (what === 'wait') time.now += ms;
            else if (what === 'put') {
              const lock = hold && kind === 'lock' ? { legalHold: true } : undefined;
              await layer.putObject(
                put('bucket', key, 'x'.repeat(size), { ...(tagged && { tags: { k: 'v' } }), lock }),
              );
            } else if (what === 'delete') await layer.deleteObject('bucket', key);
            else if (what === 'delete-version') {
              const found = (await listAll(layer)).findLast((version) => version.key === key);
              const removal = found && layer.deleteObject('bucket', key, { versionId: found.versionId });
              await removal?.catch(() => undefined);
            } else if (kind === 'versions') {
              await layer.putBucketVersioning('bucket', { status: what === 'suspend' ? 'Suspended' : 'Enabled' });
            }
          }
          const rules = drawn
            .map((one, index) => rule({ ...one, id: String(index) }))
            .filter(
              ({ expiration, markerDays }) =>
                kind !== 'lock' || (markerDays === undefined && !('allVersions' in (expiration ?? {}))),
            );
          await layer.putBucketLifecycle('bucket', rules);
          time.now += rest;
          const before = await modelOf(layer);
          const versioning = (await layer.getBucketVersioning('bucket'))?.status;
          const expected = new Map(
            [...before].map(([key, versions]) => [key, survivors(versions, rules, { now: time.now, versioning })]),
          );
          await apply();
          const after = await modelOf(layer);
          for (const [key, versions] of expected) {
            const known = new Map((before.get(key) ?? []).map(({ versionId, modified }) => [versionId, modified]));
            const found = (after.get(key) ?? []).map(({ versionId, modified }) =>
              known.get(versionId) === modified ? versionId : 'new marker',
            );
            expect({ key, found }).toEqual({ key, found: versions });
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});

async function modelOf(layer: ObjectLayer): Promise<ReadonlyMap<string, readonly ModelVersion[]>> {
  const keys = new Map<string, ModelVersion[]>();
  for (const version of await listAll(layer)) {
    const { key, versionId, deleteMarker } = version;
    const tags = deleteMarker ? {} : (await layer.getObjectTags('bucket', key, versionId)).tags;
    const info = deleteMarker ? undefined : await layer.headObject('bucket', key, { versionId });
    const entry = keys.get(key) ?? [];
    keys.set(key, entry);
    entry.push({ ...version, tags, locked: info?.lock?.legalHold === true });
  }
  return keys;
}
