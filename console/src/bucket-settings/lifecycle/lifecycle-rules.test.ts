import { beforeAll, describe, expect, it } from 'vitest';
import { parseLifecycle } from '../../../../protocol/s3/lifecycle/bucket-lifecycle.ts';
import { readEditable } from '../../../../protocol/s3/xml-edit.ts';
import { formatExactTime } from '../../text/format.ts';
import {
  describeRule,
  emptyRule,
  lifecycleDocument,
  lifecycleRule,
  ruleIssue,
  unknownOfRule,
} from './lifecycle-rules.ts';
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

it('describes a rule in sentences', () => {
  expect(describeRule(whole)).toEqual([
    'Objects whose keys begin with “logs/” are deleted 30 days after they were stored.',
    'Old versions are removed 7 days after they were replaced, except the newest 3 of each key.',
    'Unfinished uploads are removed 1 day after their start.',
  ]);
});

it('says that old versions beyond the kept ones go at once', () => {
  expect(describeRule({ ...emptyRule, keepVersions: 3 })).toEqual([
    'Old versions are removed as soon as they were replaced, except the newest 3 of each key.',
  ]);
});

describe('a rule with what the form does not know', () => {
  const rule = lifecycleRule(
    readEditable(
      '<Rule><ID>a</ID><Filter><And><Prefix>p</Prefix><Tag><Key>team</Key><Value>red</Value></Tag></And></Filter><Status>Enabled</Status>' +
        '<Expiration><Date>2027-01-01T00:00:00Z</Date><ExpiredObjectAllVersions>true</ExpiredObjectAllVersions></Expiration></Rule>',
    ),
  );

  it('shows it', () => {
    expect(unknownOfRule(rule)).toEqual(['Filter/And/Tag: team, red', 'Expiration: 2027-01-01T00:00:00Z, true']);
  });

  it('says its date with the time and the zone of the user', () => {
    expect(describeRule(rule)).toEqual([
      `Objects are deleted at this time: ${formatExactTime('2027-01-01T00:00:00Z')}.`,
    ]);
  });

  it('can be saved, but not with days next to the date', () => {
    expect(ruleIssue({ ...rule, prefix: 'q' })).toBeUndefined();
    expect(ruleIssue({ ...rule, expireDays: 3 })).toMatch(/deletes objects at a date/);
  });

  it('keeps it, and the filter stays one that the server takes', () => {
    const [written] = parseLifecycle(lifecycleDocument([{ ...rule, prefix: '' }]));
    expect(written).toMatchObject({ filter: { tags: { team: 'red' } }, expiration: { allVersions: true } });
    expect(written?.filter.prefix).toBeUndefined();
  });
});

it('takes the rest of an action away with the action', () => {
  const rule = lifecycleRule(
    readEditable(
      '<Rule><Filter><Prefix/></Filter><Status>Enabled</Status><Expiration><Days>9</Days><ExpiredObjectAllVersions>true' +
        '</ExpiredObjectAllVersions></Expiration><AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation>' +
        '</AbortIncompleteMultipartUpload></Rule>',
    ),
  );
  const [written] = parseLifecycle(lifecycleDocument([{ ...rule, expireDays: undefined }]));
  expect(written).toMatchObject({ abortUploadsDays: 1 });
  expect(written?.expiration).toBeUndefined();
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
    [{ ...emptyRule, keepVersions: 2 }, undefined],
    [{ ...emptyRule, noncurrentDays: 1, keepVersions: 101 }, 'At most 100 old versions can be kept.'],
    [
      { ...emptyRule, expireDays: 1, removeLoneMarkers: true },
      'A rule cannot both expire objects and remove delete markers: make two rules.',
    ],
  ])('of %j', (rule, issue) => {
    expect(ruleIssue(rule)).toBe(issue);
  });
});
