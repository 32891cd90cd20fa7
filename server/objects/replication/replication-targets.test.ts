import { describe, expect, it } from 'vitest';
import { type ReplicationRule, targetArn } from '../../../protocol/s3/bucket-replication.ts';
import { storageClassAt, targetsOf } from './replication-targets.ts';

const [a, b] = ['6a9a8c5e-0c39-4b0b-9d58-1f8e2f0b8a11', '7b9a8c5e-0c39-4b0b-9d58-1f8e2f0b8a22'];

function rule(more: Partial<ReplicationRule> = {}, target = a): ReplicationRule {
  const arn = targetArn(target, 'other');
  return {
    id: `r${more.priority ?? 1}`,
    enabled: true,
    priority: 1,
    filter: {},
    destination: arn,
    target: arn,
    deleteMarkers: false,
    deletes: false,
    replicaModifications: true,
    existingObjects: false,
    ...more,
  };
}

const version = { key: 'logs/a', tags: { k: 'v' }, change: 'version', isReplica: false } as const;

describe('targetsOf', () => {
  it.each([
    ['a rule without a filter', [rule()], version, [a]],
    ['a disabled rule', [rule({ enabled: false })], version, []],
    ['the prefix', [rule({ filter: { prefix: 'logs/' } })], version, [a]],
    ['another prefix', [rule({ filter: { prefix: 'data/' } })], version, []],
    ['a tag', [rule({ filter: { tags: { k: 'v' } } })], version, [a]],
    ['a tag with another value', [rule({ filter: { tags: { k: 'w' } } })], version, []],
    ['a tag that every object inherits', [rule({ filter: { tags: { toString: 'v' } } })], version, []],
    ['rules of two targets', [rule(), rule({ priority: 2 }, b)], version, [a, b]],
    ['a replica', [rule()], { ...version, isReplica: true }, []],
    ['a delete marker', [rule()], { ...version, change: 'marker' }, []],
    ['a delete marker that is replicated', [rule({ deleteMarkers: true })], { ...version, change: 'marker' }, [a]],
    ['a removal', [rule()], { ...version, change: 'removal' }, []],
    ['a removal that is replicated', [rule({ deletes: true })], { ...version, change: 'removal' }, [a]],
    ['the tags of a replica', [rule()], { ...version, change: 'attributes', isReplica: true }, [a]],
    [
      'the tags of a replica that stay here',
      [rule({ replicaModifications: false })],
      { ...version, change: 'attributes', isReplica: true },
      [],
    ],
    [
      'the rule of the highest priority',
      [rule({ deletes: true }), rule({ priority: 5 })],
      { ...version, change: 'removal' },
      [],
    ],
    [
      'a rule of lower priority where the higher one does not match',
      [rule({ deletes: true }), rule({ priority: 5, filter: { prefix: 'x' } })],
      { ...version, change: 'removal' },
      [a],
    ],
  ] as const)('decides by %s', (_what, rules, changed, expected) => {
    expect(targetsOf({ rules }, changed)).toEqual(expected);
  });
});

describe('storageClassAt', () => {
  const rules = [
    rule({ priority: 1, storageClass: 'STANDARD_IA' }),
    rule({ priority: 2, filter: { prefix: 'logs/' }, storageClass: 'GLACIER_IR' }),
    rule({ priority: 3 }, b),
  ];

  it.each([
    ['the rule of the highest priority', 'logs/a', a, 'GLACIER_IR'],
    ['the only rule that matches', 'other', a, 'STANDARD_IA'],
    ['no rule with a class', 'other', b, undefined],
  ])('is that of %s', (_what, key, target, found) => {
    expect(storageClassAt({ rules }, { key }, target)).toBe(found);
  });
});
