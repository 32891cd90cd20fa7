import { beforeEach, describe, expect, it } from 'vitest';
import { put, testLayer, type TestLayer } from '../../test/support/objects/test-layer.ts';
import { lockClock } from './lock-clock.ts';

const hour = 3_600_000;
const day = 24 * hour;
const start = Date.UTC(2026, 10, 23);

let wall: number;
let monotonic: number;
let layer: TestLayer['layer'];

/** Time passes on both clocks. */
function pass(ms: number): void {
  wall += ms;
  monotonic += ms;
}

beforeEach(async () => {
  wall = start;
  monotonic = 5_000;
  ({ layer } = testLayer({ clock: () => wall, monotonic: () => monotonic }));
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
