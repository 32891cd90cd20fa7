import { describe, expect, it } from 'vitest';
import type { BucketSpec } from '../../../api/bucket.ts';
import {
  type BucketState,
  comparableRules,
  diffBucket,
  namedSettings,
  type WantedBucket,
  wantedState,
} from './bucket-state.ts';

const spec: BucketSpec = { tenantRef: { name: 'demo' }, deletionPolicy: 'Retain' };
const plain: BucketState = { encryption: undefined, policy: undefined, tags: {} };
const full: BucketState = {
  encryption: { scheme: 'SSE-KMS', keyName: 'a' },
  policy: { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Sid: 'x' }] },
  tags: { team: 'photos', cost: '1' },
};
/** What a resource that names all settings wants. */
const asWanted = ({ encryption, policy, ...state }: BucketState): WantedBucket => ({
  ...state,
  encryption: encryption ?? 'off',
  policy: { to: policy },
});
const kinds = (wanted: WantedBucket, found: BucketState | undefined) =>
  diffBucket(wanted, found).map(({ kind }) => kind);
const differences = (wanted: WantedBucket, found: BucketState | undefined) =>
  diffBucket(wanted, found).map(({ difference }) => difference);

describe('what differs between a wanted bucket and the one found', () => {
  it('is nothing where they are the same, in whatever order fields stand', () => {
    const reordered: BucketState = {
      encryption: { keyName: 'a', scheme: 'SSE-KMS' },
      policy: { Statement: [{ Sid: 'x', Effect: 'Allow' }], Version: '2012-10-17' },
      tags: { cost: '1', team: 'photos' },
    };
    expect(kinds(asWanted(full), reordered)).toEqual([]);
    expect(kinds(asWanted(plain), plain)).toEqual([]);
  });

  it('is everything where there is none: the bucket first, encryption before it is opened to anyone', () => {
    expect(kinds(asWanted(full), undefined)).toEqual(['create', 'encryption', 'tags', 'policy']);
    expect(kinds(asWanted(plain), undefined)).toEqual(['create']);
  });

  it('is what the resource no longer names, and nothing that others set', () => {
    const named: BucketSpec = {
      ...spec,
      encryption: { algorithm: 'AES256' },
      policy: { Version: '2012-10-17', Statement: [] },
      tags: { team: 'photos' },
    };
    expect(differences(wantedState(spec, namedSettings(named)), full)).toEqual([
      'encryption is aws:kms with the key a and should be off',
      'tags differ: team',
      'there is a policy and should be none',
    ]);
    expect(kinds(wantedState(spec), full)).toEqual([]);
    const other = { ...full, tags: { ...full.tags, team: 'another' } };
    expect(differences(wantedState({ ...spec, tags: { team: 'photos' } }), other)).toEqual(['tags differ: team']);
    expect(diffBucket(wantedState({ ...spec, tags: { team: 'photos' } }), other)).toMatchObject([{ to: full.tags }]);
  });

  it('is told by name, never by the value of a tag', () => {
    const other: BucketState = { ...full, encryption: { scheme: 'SSE-S3' }, tags: { team: 'secret', cost: '1' } };
    expect(differences(asWanted(full), other)).toEqual([
      'encryption is AES256 and should be aws:kms with the key a',
      'tags differ: team',
    ]);
  });

  it('is never what a bucket blocks, nor its bucket keys, which a resource cannot name', () => {
    const kept = { blocked: ['SSE-C'], bucketKey: true } as const;
    const found: BucketState = { ...plain, encryption: { scheme: 'SSE-KMS', keyName: 'a', ...kept } };
    expect(kinds(wantedState({ ...spec, encryption: { algorithm: 'aws:kms', keyName: 'a' } }), found)).toEqual([]);
    expect(diffBucket(wantedState({ ...spec, encryption: { algorithm: 'AES256' } }), found)).toMatchObject([
      { to: { scheme: 'SSE-S3', ...kept } },
    ]);
    expect(diffBucket(wantedState(spec, ['encryption']), found)).toMatchObject([{ to: { scheme: 'none', ...kept } }]);
  });

  it('is none in rules that the resource leaves alone, or that stand in another order', () => {
    const rule = { target: 'A:webhook', events: ['s3:ObjectRemoved:*', 's3:ObjectCreated:*'] };
    const other = { target: 'B:kafka', events: ['s3:ObjectCreated:*'], prefix: 'new/' };
    expect(kinds(asWanted(plain), { ...plain, notifications: [rule] })).toEqual([]);
    const wanted = wantedState({
      ...spec,
      notifications: [other, rule],
    });
    const found = { ...plain, notifications: comparableRules([{ ...rule, prefix: '' }, other]) };
    expect(kinds(wanted, found)).toEqual([]);
    expect(differences(wanted, plain)).toEqual(['notifications differ: they should go to A:webhook, B:kafka']);
    expect(differences(asWanted({ ...plain, notifications: [] }), found)).toEqual([
      'notifications differ: they should go to none',
    ]);
  });

  it('counts the order of lists', () => {
    const policy = { Statement: [{ Action: ['a', 'b'] }] };
    const turned = { Statement: [{ Action: ['b', 'a'] }] };
    expect(differences(asWanted({ ...plain, policy }), { ...plain, policy: turned })).toEqual(['the policy differs']);
  });
});
