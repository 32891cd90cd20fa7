import { beforeAll, describe, expect, it } from 'vitest';
import { parseLifecycle } from '../../../../../../protocol/s3/lifecycle/bucket-lifecycle.ts';
import { describeRule, emptyRule, lifecycleDocument, ruleIssue } from './lifecycle-rules.ts';
import { loadPageTexts } from '../../texts/texts.ts';

beforeAll(loadPageTexts);

const whole = {
  ...emptyRule,
  id: 'a<b',
  prefix: 'logs/',
  expireDays: 30,
  noncurrentDays: 7,
  keepVersions: 3,
  abortDays: 1,
};

it('writes a document that the server reads', () => {
  const markers = { ...emptyRule, id: 'markers', enabled: false, removeLoneMarkers: true };
  expect(parseLifecycle(Buffer.from(lifecycleDocument([whole, markers])))).toMatchObject([
    {
      id: 'a<b',
      enabled: true,
      filter: { prefix: 'logs/' },
      expiration: { days: 30 },
      noncurrent: { days: 7, keep: 3 },
      abortUploadsDays: 1,
    },
    { id: 'markers', enabled: false, expiration: { loneMarkers: true } },
  ]);
});

it('writes and describes moves to tiers', () => {
  const moves = { ...emptyRule, moveDays: 0, moveTier: 'COLD', oldMoveDays: 1, oldMoveTier: 'COLDER' };
  expect(parseLifecycle(Buffer.from(lifecycleDocument([moves])))).toMatchObject([
    { transition: { days: 0, tier: 'COLD' }, noncurrentTransition: { days: 1, tier: 'COLDER' } },
  ]);
  expect(describeRule(moves)).toEqual([
    'Objects move to the tier COLD as soon as they are stored.',
    'Old versions move to the tier COLDER 1 day after they were replaced.',
  ]);
});

it('keeps a rule that it cannot edit', () => {
  const markup = '<Rule><ID>x</ID></Rule>';
  expect(lifecycleDocument([{ kind: 'other', id: 'x', enabled: true, markup }])).toContain(markup);
});

it('describes a rule in sentences', () => {
  expect(describeRule(whole)).toEqual([
    'Objects whose keys begin with “logs/” are deleted 30 days after they were stored.',
    'Old versions are removed 7 days after they were replaced, except the newest 3 of each key.',
    'Unfinished uploads are removed 1 day after their start.',
  ]);
});

describe('ruleIssue', () => {
  it.each([
    [whole, undefined],
    [emptyRule, 'Choose at least one thing that the rule does.'],
    [{ ...emptyRule, expireDays: 0 }, 'Days and counts are whole numbers from 1 on.'],
    [{ ...emptyRule, moveDays: 0, moveTier: 'COLD' }, undefined],
    [{ ...emptyRule, moveDays: 3 }, 'A move has both days and a tier.'],
    [{ ...emptyRule, oldMoveTier: 'COLD' }, 'A move has both days and a tier.'],
    [{ ...emptyRule, moveDays: -1, moveTier: 'COLD' }, 'Days until a move are whole numbers from 0 on.'],
    [
      { ...emptyRule, expireDays: 5, moveDays: 5, moveTier: 'COLD' },
      'What moves to a tier is deleted later than it moves.',
    ],
    [{ ...emptyRule, keepVersions: 2 }, 'Say after how many days old versions go.'],
    [{ ...emptyRule, noncurrentDays: 1, keepVersions: 101 }, 'At most 100 old versions can be kept.'],
    [
      { ...emptyRule, expireDays: 1, removeLoneMarkers: true },
      'A rule cannot both expire objects and remove delete markers: make two rules.',
    ],
  ])('of %j', (rule, issue) => {
    expect(ruleIssue(rule)).toBe(issue);
  });
});
