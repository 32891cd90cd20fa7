import { describe, expect, it } from 'vitest';
import type { LifecycleRuleFields } from '../../s3/lifecycle-document.ts';
import { ruleTables } from './rule-tables.ts';

const rules: readonly LifecycleRuleFields[] = [
  { ID: 'expire', Status: 'Enabled', Filter: { Prefix: 'logs/' }, Expiration: { Days: 3 } },
  { ID: 'noncurrent', Status: 'Enabled', NoncurrentVersionExpiration: { NoncurrentDays: 2 } },
  { ID: 'uploads', Status: 'Enabled', AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } },
  { ID: 'move', Status: 'Enabled', Transition: { Days: 0, StorageClass: 'WARM' } },
  {
    ID: 'move-noncurrent',
    Status: 'Enabled',
    NoncurrentVersionTransition: { NoncurrentDays: 5, StorageClass: 'COLD' },
  },
];
const idsOf = (shown: Parameters<typeof ruleTables>[1]): readonly string[] => {
  const text = ruleTables(rules, shown, new Date('2026-01-01T00:00:00Z'));
  return rules.map(({ ID }) => ID).filter((id) => new RegExp(`^\\W*${id}\\s`, 'm').test(text));
};

describe('the tables of lifecycle rules', () => {
  it('show every action', () => {
    expect(idsOf({})).toEqual(['expire', 'noncurrent', 'uploads', 'move', 'move-noncurrent']);
  });

  it('show expirations alone', () => {
    expect(idsOf({ expiry: true })).toEqual(['expire', 'noncurrent', 'uploads']);
  });

  it('show transitions alone', () => {
    expect(idsOf({ transition: true })).toEqual(['move', 'move-noncurrent']);
  });
});
