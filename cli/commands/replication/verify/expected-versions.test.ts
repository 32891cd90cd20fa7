import { describe, expect, it } from 'vitest';
import type { ReplicationRule } from '../../../s3/replication.ts';
import { newReplicationRule, type ReplicationRuleOptions } from '../rule-options.ts';
import { commonPrefix, decidingRule, mustAgree, mustBeGone, mustBeThere, neverSent } from './expected-versions.ts';

function rule(options: ReplicationRuleOptions & { readonly prefix?: string } = {}): ReplicationRule {
  return newReplicationRule(options, options.prefix ?? '');
}

const sent = { ...neverSent, status: 'COMPLETED' };
const replica = { ...neverSent, status: 'REPLICA' };

describe('the rule of an object', () => {
  it('is the enabled one with the highest priority that matches its prefix and tags', () => {
    const all = rule({ priority: '1' });
    const photos = rule({ prefix: 'photos/', priority: '2' });
    const tagged = rule({ prefix: 'photos/', tags: 'a=b&c=d', priority: '3' });
    const off = rule({ disable: true, priority: '4' });
    const rules = [all, photos, tagged, off];
    expect(decidingRule(rules, 'x', {})).toBe(all);
    expect(decidingRule(rules, 'photos/x', { a: 'b' })).toBe(photos);
    expect(decidingRule(rules, 'photos/x', { a: 'b', c: 'd' })).toBe(tagged);
    expect(decidingRule([photos], 'x', {})).toBeUndefined();
  });

  it.each([
    [['photos/2025/', 'photos/2026/'], 'photos/202'],
    [['photos/', ''], ''],
    [['photos/'], 'photos/'],
  ])('has the prefixes %j with %j in common', (prefixes, expected) => {
    expect(commonPrefix(prefixes.map((prefix) => rule({ prefix })))).toBe(expected);
  });
});

it.each([
  ['a version that the rule has sent', 'delete', false, sent, true],
  ['one from before the rule', 'delete', false, neverSent, false],
  ['one from before, which a resync sends', 'existing-objects', false, neverSent, true],
  ['a replica', 'delete', false, replica, false],
  ['a replica, which a resync sends', 'existing-objects', false, replica, true],
  ['a delete marker', 'existing-objects', true, sent, false],
  ['a delete marker of a rule that has them', 'delete-marker', true, sent, true],
] as const)('%s must be at the target, or not: %s', (_what, replicate, isMarker, state, expected) => {
  expect(mustBeThere(rule({ replicate }), isMarker, state)).toBe(expected);
});

it('asks of replicas the same attributes where their changes are replicated', () => {
  const on = rule({ replicate: 'delete' });
  const off = { ...on, SourceSelectionCriteria: { ReplicaModifications: { Status: 'Disabled' } } };
  expect([mustAgree(on, replica), mustAgree(off, replica), mustAgree(off, sent)]).toEqual([true, false, true]);
});

it('asks that removed versions are gone where removals are replicated', () => {
  expect(mustBeGone(rule({ replicate: 'delete' }), false)).toBe(true);
  expect(mustBeGone(rule({ replicate: 'delete' }), true)).toBe(false);
  expect(mustBeGone(rule({ replicate: 'existing-objects' }), false)).toBe(false);
});
