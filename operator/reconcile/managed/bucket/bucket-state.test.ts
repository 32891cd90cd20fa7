import { describe, expect, it } from 'vitest';
import { type BucketState, comparableRules, diffBucket, wantedState } from './bucket-state.ts';

const plain: BucketState = { encryption: undefined, policy: undefined, tags: {} };
const full: BucketState = {
  encryption: { scheme: 'SSE-KMS', keyName: 'a' },
  policy: { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Sid: 'x' }] },
  tags: { team: 'photos', cost: '1' },
};
const kinds = (wanted: BucketState, found: BucketState | undefined) =>
  diffBucket(wanted, found).map(({ kind }) => kind);
const differences = (wanted: BucketState, found: BucketState | undefined) =>
  diffBucket(wanted, found).map(({ difference }) => difference);

describe('what differs between a wanted bucket and the one found', () => {
  it('is nothing where they are the same, in whatever order fields stand', () => {
    const reordered: BucketState = {
      encryption: { keyName: 'a', scheme: 'SSE-KMS' },
      policy: { Statement: [{ Sid: 'x', Effect: 'Allow' }], Version: '2012-10-17' },
      tags: { cost: '1', team: 'photos' },
    };
    expect(kinds(full, reordered)).toEqual([]);
    expect(kinds(plain, plain)).toEqual([]);
  });

  it('is everything where there is none: the bucket first, encryption before it is opened to anyone', () => {
    expect(kinds(full, undefined)).toEqual(['create', 'encryption', 'tags', 'policy']);
    expect(kinds(plain, undefined)).toEqual(['create']);
  });

  it('is what the resource no longer names', () => {
    expect(differences(plain, full)).toEqual([
      'encryption is aws:kms with the key a and should be off',
      'tags differ: cost, team',
      'there is a policy and should be none',
    ]);
  });

  it('is told by name, never by the value of a tag', () => {
    const other: BucketState = { ...full, encryption: { scheme: 'SSE-S3' }, tags: { team: 'secret', cost: '1' } };
    expect(differences(full, other)).toEqual([
      'encryption is AES256 and should be aws:kms with the key a',
      'tags differ: team',
    ]);
  });

  it('is what a bucket blocks and the resource does not name', () => {
    const found: BucketState = { ...plain, encryption: { scheme: 'none', blocked: ['SSE-C'] } };
    expect(differences(plain, found)).toEqual(['encryption is off, blocking SSE-C and should be off']);
  });

  it('is none in rules that the resource leaves alone, or that stand in another order', () => {
    const rule = { target: 'A:webhook', events: ['s3:ObjectRemoved:*', 's3:ObjectCreated:*'] };
    const other = { target: 'B:kafka', events: ['s3:ObjectCreated:*'], prefix: 'new/' };
    expect(kinds(plain, { ...plain, notifications: [rule] })).toEqual([]);
    const wanted = wantedState({
      tenantRef: { name: 'demo' },
      deletionPolicy: 'Retain',
      notifications: [other, rule],
    });
    const found = { ...plain, notifications: comparableRules([{ ...rule, prefix: '' }, other]) };
    expect(kinds(wanted, found)).toEqual([]);
    expect(differences(wanted, plain)).toEqual(['notifications differ: they should go to A:webhook, B:kafka']);
    expect(differences({ ...plain, notifications: [] }, found)).toEqual([
      'notifications differ: they should go to none',
    ]);
  });

  it('counts the order of lists', () => {
    const policy = { Statement: [{ Action: ['a', 'b'] }] };
    const turned = { Statement: [{ Action: ['b', 'a'] }] };
    expect(differences({ ...plain, policy }, { ...plain, policy: turned })).toEqual(['the policy differs']);
  });
});
