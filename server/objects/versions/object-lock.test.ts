import { describe, expect, it, beforeEach } from 'vitest';
import type { ObjectLock } from '../contract/object-layer.ts';
import type { ObjectLock as StoredLock } from '../records/object-record.ts';
import { checkLockOfNew, checkRemovable, checkRetentionChange, lockOfNew } from './object-lock.ts';
import { randomBytes } from 'node:crypto';
import { commitOnce } from '../../store/commits.ts';
import { encodeBucket, type BucketRecord } from '../records/bucket-record.ts';
import { recordKeys } from '../records/record-format.ts';
import { body, put, rename, testLayer, type TestLayer } from '../../../test/support/objects/test-layer.ts';
import { lockClock } from '../contract/lock-clock.ts';

const dayMs = 86_400_000;
const now = Date.UTC(2026, 0, 1);
const clock = { latest: () => now - 1 };
const bucket = (objectLock?: object) => ({ created: 0, location: '', ...(objectLock && { objectLock }) });
const byDefault = (period: object) => bucket({ defaultRetention: { mode: 'GOVERNANCE', ...period } });
const retention = (mode: 'GOVERNANCE' | 'COMPLIANCE', days: number): ObjectLock => ({
  retention: { mode, until: new Date(now + days * dayMs) },
});
const stored = (mode: 'GOVERNANCE' | 'COMPLIANCE', days: number): StoredLock => ({ mode, until: now + days * dayMs });

describe('lockOfNew', () => {
  it.each<[string, ReturnType<typeof bucket>, ObjectLock | undefined, StoredLock | undefined]>([
    ['nothing in a bucket without object lock', bucket(), undefined, undefined],
    ['nothing without a default', bucket({}), undefined, undefined],
    ['the default in days', byDefault({ days: 2 }), undefined, stored('GOVERNANCE', 2)],
    ['the default in years of 365 days', byDefault({ years: 4 }), undefined, stored('GOVERNANCE', 1_460)],
    ['the request over the default', byDefault({ days: 2 }), retention('COMPLIANCE', 1), stored('COMPLIANCE', 1)],
    ['the request without a default', bucket({}), retention('GOVERNANCE', 1), stored('GOVERNANCE', 1)],
    ['a legal hold alone', bucket({}), { legalHold: true }, { legalHold: true }],
    ['a legal hold that is off', bucket({}), { legalHold: false }, { legalHold: false }],
    [
      'a legal hold beside the default',
      byDefault({ days: 2 }),
      { legalHold: true },
      { ...stored('GOVERNANCE', 2), legalHold: true },
    ],
    [
      'both of the request',
      bucket({}),
      { ...retention('COMPLIANCE', 1), legalHold: true },
      { ...stored('COMPLIANCE', 1), legalHold: true },
    ],
    ['a retention that ended while the body came', bucket({}), retention('COMPLIANCE', -1), stored('COMPLIANCE', -1)],
  ])('is %s', (_, record, requested, expected) => {
    expect(lockOfNew(record, requested, now, clock)).toEqual(expected);
  });

  it('refuses a lock where the bucket has become another one', () => {
    expect(() => lockOfNew(bucket(), { legalHold: true }, now, clock)).toThrow(
      expect.objectContaining({ code: 'InvalidRequest' }),
    );
  });
});

describe('checkLockOfNew', () => {
  it.each<[string, ReturnType<typeof bucket>, ObjectLock, string]>([
    ['a retention without object lock', bucket(), retention('GOVERNANCE', 1), 'InvalidRequest'],
    ['a legal hold without object lock', bucket(), { legalHold: false }, 'InvalidRequest'],
    ['a past retention', bucket({}), retention('GOVERNANCE', -1), 'InvalidArgument'],
    ['a retention that ends now', bucket({}), retention('GOVERNANCE', 0), 'InvalidArgument'],
    ['a past retention without object lock', bucket(), retention('GOVERNANCE', -1), 'InvalidArgument'],
  ])('refuses %s', (_, record, requested, code) => {
    expect(() => checkLockOfNew(record, requested, now)).toThrow(expect.objectContaining({ code }));
  });

  it('takes a retention of more than 100 years', () => {
    expect(() => checkLockOfNew(bucket({}), retention('COMPLIANCE', 73_000), now)).not.toThrow();
  });
});

describe('checkRemovable', () => {
  it.each<[string, StoredLock | undefined, boolean, boolean]>([
    ['no lock', undefined, false, true],
    ['GOVERNANCE', stored('GOVERNANCE', 1), false, false],
    ['GOVERNANCE with a bypass', stored('GOVERNANCE', 1), true, true],
    ['GOVERNANCE at its end', stored('GOVERNANCE', 0), false, true],
    ['COMPLIANCE', stored('COMPLIANCE', 1), false, false],
    ['COMPLIANCE with a bypass', stored('COMPLIANCE', 1), true, false],
    ['COMPLIANCE at its end', stored('COMPLIANCE', 0), false, true],
    ['a legal hold', { legalHold: true }, true, false],
    ['a legal hold that is off', { legalHold: false }, false, true],
    ['a legal hold after the end of a retention', { ...stored('GOVERNANCE', -1), legalHold: true }, true, false],
    ['a legal hold beside GOVERNANCE, with a bypass', { ...stored('GOVERNANCE', 1), legalHold: true }, true, false],
    ['a removed legal hold beside COMPLIANCE', { ...stored('COMPLIANCE', 1), legalHold: false }, true, false],
  ])('of %s', (_, lock, bypassGovernance, isRemovable) => {
    const check = () => checkRemovable(lock === undefined ? {} : { lock }, now, bypassGovernance);
    if (isRemovable) expect(check).not.toThrow();
    else expect(check).toThrow(expect.objectContaining({ code: 'AccessDenied' }));
  });
});

describe('checkRetentionChange', () => {
  it.each<[string, StoredLock | undefined, ObjectLock, boolean, string | undefined]>([
    ['sets the first', undefined, retention('GOVERNANCE', 1), false, undefined],
    ['removes none', undefined, {}, false, undefined],
    ['sets one beside a legal hold', { legalHold: true }, retention('GOVERNANCE', 1), false, undefined],
    ['keeps the end', stored('COMPLIANCE', 2), retention('COMPLIANCE', 2), false, undefined],
    ['extends', stored('COMPLIANCE', 2), retention('COMPLIANCE', 3), false, undefined],
    ['shortens GOVERNANCE', stored('GOVERNANCE', 2), retention('GOVERNANCE', 1), false, 'AccessDenied'],
    ['shortens GOVERNANCE by a bypass', stored('GOVERNANCE', 2), retention('GOVERNANCE', 1), true, undefined],
    ['shortens COMPLIANCE by a bypass', stored('COMPLIANCE', 2), retention('COMPLIANCE', 1), true, 'AccessDenied'],
    ['strengthens GOVERNANCE', stored('GOVERNANCE', 2), retention('COMPLIANCE', 3), false, 'AccessDenied'],
    ['strengthens GOVERNANCE by a bypass', stored('GOVERNANCE', 2), retention('COMPLIANCE', 1), true, undefined],
    ['weakens COMPLIANCE', stored('COMPLIANCE', 2), retention('GOVERNANCE', 3), true, 'AccessDenied'],
    ['removes GOVERNANCE', stored('GOVERNANCE', 2), {}, false, 'AccessDenied'],
    ['removes GOVERNANCE by a bypass', stored('GOVERNANCE', 2), {}, true, undefined],
    ['removes COMPLIANCE', stored('COMPLIANCE', 2), {}, true, 'AccessDenied'],
    ['sets one after the end', stored('COMPLIANCE', -1), retention('GOVERNANCE', 1), false, undefined],
    ['removes one after the end', stored('COMPLIANCE', -1), {}, false, undefined],
    ['sets a past one by a bypass', stored('GOVERNANCE', 2), retention('GOVERNANCE', -1), true, 'InvalidArgument'],
    ['sets one of more than 100 years', undefined, retention('GOVERNANCE', 36_501), false, undefined],
  ])('%s', (_, lock, { retention: asked }, bypassGovernance, code) => {
    const check = () => checkRetentionChange(lock === undefined ? {} : { lock }, asked, { now, bypassGovernance });
    if (code === undefined) expect(check).not.toThrow();
    else expect(check).toThrow(expect.objectContaining({ code }));
  });
});

const hour = 3_600_000;
const day = 24 * hour;
const start = Date.UTC(2026, 10, 23);

let wall: number;
let monotonic: number;
let layer: TestLayer['layer'];
let records: TestLayer['records'];

/** Time passes on both clocks. */
function pass(ms: number): void {
  wall += ms;
  monotonic += ms;
}

beforeEach(async () => {
  wall = start;
  monotonic = 5_000;
  ({ layer, records } = testLayer({ clock: () => wall, monotonic: () => monotonic }));
  await layer.createBucket('locked', { location: '', objectLock: true });
});

describe('lockClock', () => {
  it.each([
    ['a clock that is not set', 0, hour, hour],
    ['a clock that is set forward', day, hour, hour + day],
    ['a clock that is set back', -day, hour - day, hour],
  ])('with %s', (_, step, earliest, latest) => {
    const clock = lockClock(
      () => wall,
      () => monotonic,
    );
    pass(hour);
    wall += step;
    expect([clock.earliest() - start, clock.latest() - start]).toEqual([earliest, latest]);
  });

  it('returns whole milliseconds, never behind a wall clock that runs on time', () => {
    let exact = start + 0.9;
    const clock = lockClock(
      () => Math.floor(exact),
      () => exact - 7_000.3,
    );
    for (exact = start + 1; exact < start + 20; exact += 0.37) {
      expect(clock.latest()).toBe(Math.floor(exact));
      expect(Number.isInteger(clock.earliest())).toBe(true);
    }
  });
});

/** Stores a version, and returns its deletion. */
async function locked(mode: 'COMPLIANCE' | 'GOVERNANCE', ms: number) {
  const lock = { retention: { mode, until: new Date(start + ms) } };
  const { versionId = '' } = await layer.putObject(put('locked', 'key', 'content', { lock }));
  return () => layer.deleteObject('locked', 'key', { versionId });
}

describe('a retention', () => {
  it.each(['COMPLIANCE', 'GOVERNANCE'] as const)('of %s does not end when the clock is set forward', async (mode) => {
    const remove = await locked(mode, day);
    wall += 400 * day;
    await expect(remove()).rejects.toMatchObject({ code: 'AccessDenied' });
    pass(day);
    expect(await remove()).toMatchObject({ deleteMarker: false });
  });

  it('lasts longer when the clock is set back', async () => {
    const remove = await locked('COMPLIANCE', day);
    wall -= hour;
    pass(day);
    await expect(remove()).rejects.toMatchObject({ code: 'AccessDenied' });
    pass(hour);
    expect(await remove()).toMatchObject({ deleteMarker: false });
  });

  it('of COMPLIANCE is not shortened or removed when the clock is set forward', async () => {
    await locked('COMPLIANCE', day);
    wall += 400 * day;
    const until = new Date(wall + hour);
    for (const retention of [undefined, { mode: 'GOVERNANCE' as const, until }]) {
      const change = { retention, bypassGovernance: true };
      await expect(layer.putObjectRetention('locked', 'key', change)).rejects.toMatchObject({ code: 'AccessDenied' });
    }
  });

  it('may end at a time that has passed on a clock that was set forward', async () => {
    wall += 400 * day;
    await expect(locked('COMPLIANCE', day)).resolves.toBeDefined();
  });

  it('by default begins no earlier than the time that has passed, with a clock that was set back', async () => {
    const defaultRetention = { mode: 'COMPLIANCE', days: 1 } as const;
    await layer.putObjectLockConfiguration('locked', { defaultRetention });
    pass(hour);
    wall -= 30 * day;
    const { lock } = await layer.putObject(put('locked', 'new', 'content'));
    expect(lock?.retention?.until).toEqual(new Date(start + hour + day));
  });
});

const write = (key: string) => layer.putObject(put('locked', key, 'new'));
const renameLocked = (from: string, to: string) => layer.renameObject(rename('locked', from, to));

async function setBucket(record: BucketRecord): Promise<void> {
  const entry = { key: recordKeys.bucket('locked'), value: encodeBucket(record) };
  await commitOnce(records, { put: [entry] }, randomBytes);
}

/** Stores a locked version without an ID, and takes the object lock from the record of the bucket. */
async function unlocked(versioning: BucketRecord['versioning']): Promise<void> {
  await setBucket({ created: 0, location: '', objectLock: {} });
  const lock = { retention: { mode: 'GOVERNANCE' as const, until: new Date(start + day) } };
  await layer.putObject(put('locked', 'key', 'content', { lock }));
  await write('other');
  await setBucket({ created: 0, location: '', ...(versioning && { versioning }) });
}

describe('a locked version in a bucket whose record says nothing of object lock', () => {
  it.each<[string, BucketRecord['versioning'], () => Promise<unknown>]>([
    ['replaced', undefined, () => write('key')],
    ['deleted', undefined, () => layer.deleteObject('locked', 'key')],
    ['renamed', undefined, () => renameLocked('key', 'elsewhere')],
    ['replaced by a renamed one', undefined, () => renameLocked('other', 'key')],
    ['replaced where versions are suspended', { status: 'Suspended' }, () => write('key')],
    [
      'replaced by a marker where they are suspended',
      { status: 'Suspended' },
      () => layer.deleteObject('locked', 'key'),
    ],
  ])('is not %s', async (_, versioning, change) => {
    await unlocked(versioning);
    await expect(change()).rejects.toMatchObject({ code: 'AccessDenied' });
    expect(String(await body(layer, 'locked', 'key'))).toBe('content');
    pass(day);
    await expect(change()).resolves.not.toThrow();
  });
});
