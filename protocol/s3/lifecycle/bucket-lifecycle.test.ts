import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseLifecycle, writeLifecycle } from './bucket-lifecycle.ts';
import { S3Error } from '../s3-error.ts';

const document = (...rules: string[]) => `<LifecycleConfiguration>${rules.join('')}</LifecycleConfiguration>`;
const rule = (inside: string) => document(`<Rule><Status>Enabled</Status>${inside}</Rule>`);
const expiring = '<Expiration><Days>3</Days></Expiration>';
const all = '<Filter/>';

describe('a lifecycle configuration', () => {
  it.each([
    ['a day', `${all}${expiring}`, { filter: {}, expiration: { days: 3 } }],
    [
      'the deprecated prefix',
      `<Prefix>logs/</Prefix>${expiring}`,
      { filter: { deprecated: true, prefix: 'logs/' }, expiration: { days: 3 } },
    ],
    [
      'a date',
      `<Filter><Prefix>a</Prefix></Filter><Expiration><Date>2030-01-02T00:00:00.000Z</Date></Expiration>`,
      { filter: { prefix: 'a' }, expiration: { date: Date.UTC(2030, 0, 2) } },
    ],
    [
      'several conditions',
      `<Filter><And><Prefix>a</Prefix><Tag><Key>k</Key><Value>v</Value></Tag><ObjectSizeGreaterThan>5</ObjectSizeGreaterThan><ObjectSizeLessThan>9</ObjectSizeLessThan></And></Filter>${expiring}`,
      { filter: { prefix: 'a', tags: { k: 'v' }, greaterThan: 5, lessThan: 9 }, expiration: { days: 3 } },
    ],
    [
      'noncurrent versions',
      `${all}<NoncurrentVersionExpiration><NoncurrentDays>7</NoncurrentDays><NewerNoncurrentVersions>2</NewerNoncurrentVersions></NoncurrentVersionExpiration>`,
      { filter: {}, noncurrent: { days: 7, keep: 2 } },
    ],
    [
      'lone delete markers',
      `${all}<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>`,
      { filter: {}, expiration: { loneMarkers: true } },
    ],
    [
      'uploads',
      `${all}<AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation></AbortIncompleteMultipartUpload>`,
      { filter: {}, abortUploadsDays: 1 },
    ],
    [
      'the extensions of MinIO',
      `${all}<Expiration><Days>1</Days><ExpiredObjectAllVersions>true</ExpiredObjectAllVersions></Expiration><DelMarkerExpiration><Days>2</Days></DelMarkerExpiration>`,
      { filter: {}, expiration: { days: 1, allVersions: true }, markerDays: 2 },
    ],
    [
      'versions that are kept, without days, as mc sends it',
      `${all}<NoncurrentVersionExpiration><NewerNoncurrentVersions>3</NewerNoncurrentVersions></NoncurrentVersionExpiration>`,
      { filter: {}, noncurrent: { days: 0, keep: 3 } },
    ],
    [
      'transitions',
      `${all}<Transition><Days>30</Days><StorageClass>COLD</StorageClass></Transition><NoncurrentVersionTransition><NoncurrentDays>7</NoncurrentDays><NewerNoncurrentVersions>2</NewerNoncurrentVersions><StorageClass>COLDER</StorageClass></NoncurrentVersionTransition>`,
      {
        filter: {},
        transition: { days: 30, tier: 'COLD' },
        noncurrentTransition: { days: 7, keep: 2, tier: 'COLDER' },
      },
    ],
    [
      'a transition on a date',
      `${all}<Transition><Date>2030-01-02T00:00:00Z</Date><StorageClass>COLD</StorageClass></Transition>`,
      { filter: {}, transition: { date: Date.UTC(2030, 0, 2), tier: 'COLD' } },
    ],
    [
      'transitions at once, as mc sends them',
      `${all}<Transition><StorageClass>COLD</StorageClass></Transition><NoncurrentVersionTransition><StorageClass>COLD</StorageClass></NoncurrentVersionTransition>`,
      { filter: {}, transition: { days: 0, tier: 'COLD' }, noncurrentTransition: { days: 0, tier: 'COLD' } },
    ],
  ])('has %s, and is written as it was read', (_, inside, expected) => {
    const rules = parseLifecycle(rule(`<ID>one</ID>${inside}`));
    expect(rules).toEqual([{ id: 'one', enabled: true, ...expected }]);
    expect(parseLifecycle(writeLifecycle(rules))).toEqual(rules);
  });

  it('gets an ID for each rule without one', () => {
    const rules = parseLifecycle(
      document(...['', '<ID></ID>'].map((id) => `<Rule>${id}<Status>Disabled</Status>${all}${expiring}</Rule>`)),
    );
    expect(rules.map(({ enabled }) => enabled)).toEqual([false, false]);
    expect(new Set(rules.map(({ id }) => id)).size).toBe(2);
    expect(rules[0]?.id).toMatch(/^[0-9a-f]{32}$/);
  });

  const tag = '<Tag><Key>k</Key><Value>v</Value></Tag>';
  it.each([
    ['no rule', document(), 'MalformedXML'],
    ['an unknown element', document('<Rules/>'), 'MalformedXML'],
    ['1,001 rules', document(...Array.from({ length: 1_001 }, () => '<Rule/>')), 'MalformedXML'],
    ['no status', document(`<Rule>${all}${expiring}</Rule>`), 'MalformedXML'],
    ['another status', document(`<Rule><Status>enabled</Status>${all}${expiring}</Rule>`), 'MalformedXML'],
    ['neither filter nor prefix', rule(expiring), 'MalformedXML'],
    ['filter and prefix', rule(`<Prefix>a</Prefix>${all}${expiring}`), 'MalformedXML'],
    ['two conditions without And', rule(`<Filter><Prefix>a</Prefix>${tag}</Filter>${expiring}`), 'MalformedXML'],
    ['a condition beside And', rule(`<Filter><And>${tag}</And>${tag}</Filter>${expiring}`), 'MalformedXML'],
    ['an empty And', rule(`<Filter><And/></Filter>${expiring}`), 'MalformedXML'],
    ['an unknown condition', rule(`<Filter><Suffix>a</Suffix></Filter>${expiring}`), 'MalformedXML'],
    ['no action', rule(all), 'InvalidRequest', 'At least one action needs to be specified in a rule.'],
    ['an unknown action', rule(`${all}<Explosion/>`), 'MalformedXML'],
    ['days and date', rule(`${all}<Expiration><Days>1</Days><Date>2030-01-01</Date></Expiration>`), 'MalformedXML'],
    ['an empty expiration', rule(`${all}<Expiration/>`), 'MalformedXML'],
    [
      'no days',
      rule(`${all}<Expiration><Days>0</Days></Expiration>`),
      'InvalidArgument',
      "'Days' for Expiration action must be a positive integer",
    ],
    ['negative days', rule(`${all}<Expiration><Days>-1</Days></Expiration>`), 'InvalidArgument'],
    ['days that are no number', rule(`${all}<Expiration><Days>1.5</Days></Expiration>`), 'MalformedXML'],
    [
      'a date in the day',
      rule(`${all}<Expiration><Date>2030-01-01T12:00:00Z</Date></Expiration>`),
      'InvalidArgument',
      "'Date' must be at midnight GMT",
    ],
    ['a date that is none', rule(`${all}<Expiration><Date>tomorrow</Date></Expiration>`), 'MalformedXML'],
    [
      'uploads by tag',
      rule(
        `<Filter>${tag}</Filter><AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation></AbortIncompleteMultipartUpload>`,
      ),
      'InvalidRequest',
      'AbortIncompleteMultipartUpload cannot be specified with Tags.',
    ],
    [
      'markers by tag',
      rule(
        `<Filter>${tag}</Filter><Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>`,
      ),
      'InvalidRequest',
    ],
    [
      'markers by size',
      rule(
        `<Filter><ObjectSizeLessThan>5</ObjectSizeLessThan></Filter><Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>`,
      ),
      'InvalidRequest',
    ],
    ['a tag twice', rule(`<Filter><And>${tag}${tag}</And></Filter>${expiring}`), 'InvalidRequest'],
    [
      'sizes that exclude each other',
      rule(
        `<Filter><And><ObjectSizeGreaterThan>5</ObjectSizeGreaterThan><ObjectSizeLessThan>5</ObjectSizeLessThan></And></Filter>${expiring}`,
      ),
      'InvalidRequest',
    ],
    [
      'a size that is no number',
      rule(`<Filter><ObjectSizeGreaterThan>-1</ObjectSizeGreaterThan></Filter>${expiring}`),
      'InvalidArgument',
    ],
    ['an ID of 256 characters', rule(`<ID>${'x'.repeat(256)}</ID>${all}${expiring}`), 'InvalidArgument'],
    [
      'an ID twice',
      document(...['a', 'a'].map((id) => `<Rule><ID>${id}</ID><Status>Enabled</Status>${all}${expiring}</Rule>`)),
      'InvalidArgument',
      'Rule ID must be unique. Found same ID for more than one rule',
    ],
    ['a transition to nothing', rule(`${all}<Transition><Days>1</Days></Transition>`), 'MalformedXML'],
    [
      'a transition of both times',
      rule(`${all}<Transition><Days>1</Days><Date>2030-01-01</Date><StorageClass>COLD</StorageClass></Transition>`),
      'MalformedXML',
    ],
    [
      'two transitions',
      rule(all + '<Transition><Days>1</Days><StorageClass>COLD</StorageClass></Transition>'.repeat(2)),
      'MalformedXML',
    ],
    [
      'an expiration that is not after the transition',
      rule(`${all}${expiring}<Transition><Days>400</Days><StorageClass>COLD</StorageClass></Transition>`),
      'InvalidArgument',
      "'Days' in the Expiration action must be greater than 'Days' in the Transition action",
    ],
    [
      'an expiration of noncurrent versions that is not after their transition',
      rule(
        `${all}<NoncurrentVersionExpiration><NoncurrentDays>7</NoncurrentDays></NoncurrentVersionExpiration><NoncurrentVersionTransition><NoncurrentDays>7</NoncurrentDays><StorageClass>COLD</StorageClass></NoncurrentVersionTransition>`,
      ),
      'InvalidArgument',
      "'NoncurrentDays' in the NoncurrentVersionExpiration action must be greater than 'NoncurrentDays' in the Transition action",
    ],
    [
      'a transition before today',
      rule(`${all}<Transition><Days>-1</Days><StorageClass>COLD</StorageClass></Transition>`),
      'InvalidArgument',
    ],
    ['no noncurrent days', rule(`${all}<NoncurrentVersionExpiration/>`), 'MalformedXML'],
    [
      '101 kept versions',
      rule(
        `${all}<NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays><NewerNoncurrentVersions>101</NewerNoncurrentVersions></NoncurrentVersionExpiration>`,
      ),
      'InvalidArgument',
    ],
    [
      'kept versions without a filter',
      rule(
        `<Prefix/><NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays><NewerNoncurrentVersions>1</NewerNoncurrentVersions></NoncurrentVersionExpiration>`,
      ),
      'InvalidRequest',
    ],
    [
      'all versions of lone markers',
      rule(
        `${all}<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker><ExpiredObjectAllVersions>true</ExpiredObjectAllVersions></Expiration>`,
      ),
      'MalformedXML',
    ],
  ])('with %s is refused', (_, text, code, message?: string) => {
    expect(() => parseLifecycle(text)).toThrow(
      expect.objectContaining({ code, ...(message !== undefined && { message }) }) as Error,
    );
  });

  it('is refused or written as it was read, whatever its elements are', () => {
    const names =
      'Rule ID Status Filter Prefix And Tag Key Value Expiration Days Date NoncurrentVersionExpiration'.split(' ');
    const node = fc.letrec<{ node: string }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom('Enabled', '3', '', 'a/', '2030-01-01', '&amp;', '\u0000'),
        fc
          .tuple(fc.constantFrom(...names), fc.array(tie('node'), { maxLength: 4 }))
          .map(([name, inside]) => `<${name}>${inside.join('')}</${name}>`),
      ),
    })).node;
    fc.assert(
      fc.property(fc.array(node, { maxLength: 5 }), (nodes) => {
        let rules;
        try {
          rules = parseLifecycle(document(...nodes));
        } catch (error) {
          expect(error).toBeInstanceOf(S3Error);
          return;
        }
        expect(parseLifecycle(writeLifecycle(rules))).toEqual(rules);
      }),
      { numRuns: 300 },
    );
  });
});
