import { describe, expect, it } from 'vitest';
import { editRule, newRule, newRuleId, type RuleOptions } from './rule-options.ts';

const today = new Date('2026-06-15T12:00:00Z');

describe('a new lifecycle rule', () => {
  it.each<[RuleOptions, string, object]>([
    [{ expireDays: '3' }, '', { Expiration: { Days: 3 } }],
    [{ expireDays: '3' }, 'logs/', { Filter: { Prefix: 'logs/' } }],
    [{ expireDays: '3', prefix: 'p/' }, 'logs/', { Filter: { Prefix: 'p/' } }],
    [{ expireDays: '3', tags: 'k=v' }, '', { Filter: { Tag: { Key: 'k', Value: 'v' } } }],
    [
      { expireDays: '3', tags: 'k=v&l=w=x' },
      '',
      {
        Filter: {
          And: {
            Tags: [
              { Key: 'k', Value: 'v' },
              { Key: 'l', Value: 'w=x' },
            ],
          },
        },
      },
    ],
    [
      { expireDays: '3', sizeGt: '1MiB', sizeLt: '2MiB' },
      '',
      { Filter: { And: { ObjectSizeGreaterThan: 1_048_576, ObjectSizeLessThan: 2_097_152 } } },
    ],
    [{ expiryDate: '2026-06-15' }, '', { Expiration: { Date: '2026-06-15T00:00:00Z' } }],
    [{ expireDeleteMarker: true }, '', { Expiration: { ExpiredObjectDeleteMarker: true } }],
    [{ noncurrentExpireNewer: '2' }, '', { NoncurrentVersionExpiration: { NewerNoncurrentVersions: 2 } }],
    [{ transitionDays: '0', transitionTier: 'warm' }, '', { Transition: { Days: 0, StorageClass: 'WARM' } }],
    [
      { expiryDays: '3', noncurrentversionExpirationDays: '4' },
      '',
      { NoncurrentVersionExpiration: { NoncurrentDays: 4 } },
    ],
  ])('has what %j says', (options, path, expected) => {
    expect(newRule(options, path, today)).toMatchObject({ Status: 'Enabled', ...expected });
  });

  it.each<[RuleOptions, RegExp]>([
    [{}, /needs an action/],
    [{ expireDays: '0' }, /at least 1/],
    [{ expireDays: 'x' }, /no whole number/],
    [{ expiryDate: '2026-06-14' }, /past/],
    [{ expiryDate: '2026-02-30' }, /no date/],
    [{ expiryDays: '3', expireDeleteMarker: true }, /a rule for each/],
    [{ expireDays: '3', expireDeleteMarker: true }, /a rule for each/],
    [{ transitionTier: 'WARM' }, /needs --transition-days/],
    [{ transitionDays: '20', transitionTier: 'standard_ia' }, /at least 30/],
    [{ noncurrentTransitionTier: 'WARM' }, /needs --noncurrent-transition-days/],
    [{ noncurrentExpireDays: '-1' }, /fewer than none/],
  ])('is refused for %j', (options, message) => {
    expect(() => newRule(options, '', today)).toThrow(message);
  });

  it('gets an ID of 20 letters and digits', () => {
    expect(newRuleId()).toMatch(/^[0-9a-v]{20}$/);
  });
});

describe('a changed lifecycle rule', () => {
  const rule = { ID: 'one', Status: 'Enabled', Filter: { Prefix: 'a/' }, Expiration: { Days: 3 } };

  it.each<[RuleOptions, object]>([
    [{ disable: true }, { Status: 'Disabled', Filter: { Prefix: 'a/' }, Expiration: { Days: 3 } }],
    [{ expireDays: '4' }, { Status: 'Enabled', Expiration: { Days: 4 } }],
    [{ expiryDate: '2030-01-01' }, { Expiration: { Date: '2030-01-01T00:00:00Z' } }],
    [{ tags: 'k=v' }, { Filter: { And: { Prefix: 'a/', Tags: [{ Key: 'k', Value: 'v' }] } } }],
    [{ prefix: 'b/' }, { Filter: { Prefix: 'b/' } }],
    [{ sizeGt: '1MiB' }, { Filter: { And: { Prefix: 'a/', ObjectSizeGreaterThan: 1_048_576 } } }],
    [{ noncurrentExpireDays: '5' }, { Expiration: { Days: 3 }, NoncurrentVersionExpiration: { NoncurrentDays: 5 } }],
  ])('has what %j says, and the rest as before', (options, expected) => {
    expect(editRule(rule, options, '')).toMatchObject({ ID: 'one', ...expected });
  });
});
