import { describe, expect, it } from 'vitest';
import type { LifecycleRule } from '../../../protocol/s3/lifecycle/bucket-lifecycle.ts';
import {
  abortionOf,
  dueAfter,
  dueForCurrent,
  dueForMarker,
  dueNoncurrentTransition,
  dueTransition,
  expirationOf,
  isNoncurrentDue,
  type VersionFacts,
} from './evaluate.ts';

const dayMs = 86_400_000;
const at = (text: string) => Date.parse(`${text}Z`);
const rule = (more: Partial<LifecycleRule>): LifecycleRule => ({ id: 'rule', enabled: true, filter: {}, ...more });
const version = (more: Partial<VersionFacts> = {}): VersionFacts => ({
  key: 'logs/a',
  size: 100,
  modified: at('2026-01-15T10:30:00'),
  tags: {},
  deleteMarker: false,
  ...more,
});
const evaluation = (now: string, ...rules: LifecycleRule[]) => ({ rules, now: at(now), dayMs });

describe('a day of lifecycle rules', () => {
  it.each([
    ['2026-01-15T10:30:00', 3, '2026-01-19T00:00:00'],
    ['2026-01-15T00:00:00', 1, '2026-01-17T00:00:00'],
    ['2026-01-15T23:59:59.999', 1, '2026-01-17T00:00:00'],
    ['2026-01-15T10:30:00', 0, '2026-01-15T10:30:00'],
  ])('of %s ends %d days later at the next midnight: %s', (time, days, expected) => {
    expect(dueAfter(at(time), days, dayMs)).toBe(at(expected));
  });
});

const days = (count: number) => ({ days: count });

describe('the expiration of a current object', () => {
  it.each<[string, LifecycleRule[], Partial<VersionFacts>, string | undefined]>([
    ['is the earliest', [rule({ id: 'b', expiration: days(9) }), rule({ id: 'a', expiration: days(3) })], {}, 'a'],
    ['is not of a disabled rule', [rule({ enabled: false, expiration: days(3) })], {}, undefined],
    ['is not of another prefix', [rule({ filter: { prefix: 'log/' }, expiration: days(3) })], {}, undefined],
    ['is not of a tag that it lacks', [rule({ filter: { tags: { k: 'v' } }, expiration: days(3) })], {}, undefined],
    [
      'is not of one tag of two',
      [rule({ filter: { tags: { k: 'v', l: 'w' } }, expiration: days(3) })],
      { tags: { k: 'v' } },
      undefined,
    ],
    [
      'is of its tags',
      [rule({ filter: { tags: { k: 'v' } }, expiration: days(3) })],
      { tags: { k: 'v', l: '' } },
      'rule',
    ],
    [
      'is not of a size that it has not above',
      [rule({ filter: { greaterThan: 100 }, expiration: days(3) })],
      {},
      undefined,
    ],
    ['is of a size below', [rule({ filter: { lessThan: 101 }, expiration: days(3) })], {}, 'rule'],
    ['is not of a rule about delete markers', [rule({ expiration: { loneMarkers: true } })], {}, undefined],
    ['is not of a rule about noncurrent versions', [rule({ noncurrent: { days: 1 } })], {}, undefined],
  ])('%s', (_, rules, more, expected) => {
    expect(expirationOf({ rules, dayMs }, version(more))?.ruleId).toBe(expected);
  });

  it('is due at midnight, not before', () => {
    const three = rule({ expiration: { days: 3 } });
    expect(dueForCurrent(evaluation('2026-01-18T23:59:59.999', three), version())).toBeUndefined();
    expect(dueForCurrent(evaluation('2026-01-19T00:00:00', three), version())).toBe('expire');
  });

  it('is due on a date for all that is older and newer', () => {
    const date = rule({ expiration: { date: at('2026-01-16T00:00:00') } });
    expect(dueForCurrent(evaluation('2026-01-15T23:00:00', date), version())).toBeUndefined();
    expect(dueForCurrent(evaluation('2026-02-20T00:00:00', date), version())).toBe('expire');
  });

  it('takes the other versions with it where a due rule says so', () => {
    const all = rule({ id: 'all', expiration: { days: 4, allVersions: true } });
    const three = rule({ expiration: { days: 3 } });
    expect(dueForCurrent(evaluation('2026-01-19T00:00:00', all, three), version())).toBe('expire');
    expect(dueForCurrent(evaluation('2026-01-20T00:00:00', all, three), version())).toBe('remove-all');
  });
});

describe('a current delete marker', () => {
  const marker = version({ deleteMarker: true, size: 0 });
  it.each<[string, LifecycleRule, boolean, 'remove' | 'remove-all' | undefined]>([
    ['goes at once where it is the only version', rule({ expiration: { loneMarkers: true } }), true, 'remove'],
    ['stays where it has versions', rule({ expiration: { loneMarkers: true } }), false, undefined],
    ['goes with its age where it is the only version', rule({ expiration: { days: 1 } }), true, 'remove'],
    ['stays before that', rule({ expiration: { days: 5 } }), true, undefined],
    ['stays with its age where it has versions', rule({ expiration: { days: 1 } }), false, undefined],
    ['goes with all versions', rule({ markerDays: 1 }), false, 'remove-all'],
    ['stays before that, with all versions', rule({ markerDays: 5 }), false, undefined],
    ['has no size', rule({ filter: { lessThan: 5 }, expiration: { days: 1 } }), true, undefined],
  ])('%s', (_, one, isLone, expected) => {
    expect(dueForMarker(evaluation('2026-01-18T00:00:00', one), marker, isLone)).toBe(expected);
  });
});

describe('a noncurrent version', () => {
  const noncurrent = { ...version(), noncurrentSince: at('2026-01-16T12:00:00'), newer: 2 };
  it.each<[string, LifecycleRule['noncurrent'], boolean]>([
    ['is due by the time when it became noncurrent', { days: 1 }, true],
    ['is not due before', { days: 2 }, false],
    ['is due beyond those that are kept', { days: 1, keep: 2 }, true],
    ['is kept', { days: 1, keep: 3 }, false],
    ['is due at once without days', { days: 0, keep: 1 }, true],
  ])('%s', (_, noncurrentRule, expected) => {
    const one = rule(noncurrentRule === undefined ? {} : { noncurrent: noncurrentRule });
    expect(isNoncurrentDue(evaluation('2026-01-18T00:00:00', one), noncurrent)).toBe(expected);
  });
});

describe('a transition for objects of 128 KiB and more', () => {
  it.each<[string, number, Partial<LifecycleRule>, string | undefined]>([
    ['leaves a smaller object', 131_071, {}, undefined],
    ['moves one of 128 KiB', 131_072, {}, 'COLD'],
    ['moves a small one of a filter by size', 100, { filter: { greaterThan: 10 } }, 'COLD'],
    ['moves a small one of a filter by the other size', 100, { filter: { lessThan: 1_000 } }, 'COLD'],
    ['leaves a small one of another filter', 100, { filter: { prefix: 'logs/' } }, undefined],
  ])('%s', (_, size, more, expected) => {
    const tiered = { days: 1, tier: 'COLD' };
    const one = rule({ transition: tiered, noncurrentTransition: tiered, largeOnly: true, ...more });
    const due = evaluation('2026-01-18T00:00:00', one);
    const noncurrent = { ...version({ size }), noncurrentSince: at('2026-01-16T12:00:00'), newer: 0 };
    expect(dueTransition(due, version({ size }))).toBe(expected);
    expect(dueNoncurrentTransition(due, noncurrent)).toBe(expected);
  });
});

describe('an unfinished upload', () => {
  it('is aborted by the earliest rule of its prefix', () => {
    const rules = [
      rule({ id: 'other', filter: { prefix: 'tmp/' }, abortUploadsDays: 1 }),
      rule({ id: 'late', abortUploadsDays: 9 }),
      rule({ id: 'early', filter: { prefix: 'logs/' }, abortUploadsDays: 2 }),
    ];
    expect(abortionOf({ rules, dayMs }, { key: 'logs/a', initiated: at('2026-01-15T10:30:00') })).toEqual({
      at: at('2026-01-18T00:00:00'),
      ruleId: 'early',
    });
  });
});
