import { describe, expect, it } from 'vitest';
import { ClusterRules } from './cluster-rules.ts';
import type { Drift } from './drift.ts';

const object = 'StatefulSet/demo-server';
const drift = (manager: string): Drift => ({ managers: [manager], paths: [`spec.${manager}`], patch: {} });

/** Repairs each change in turn, as often as it may, and returns the decisions. */
function decisions(rules: ClusterRules, ...drifts: readonly Drift[]): readonly string[] {
  return drifts.map((one) => {
    const decision = rules.decide(object, one);
    if (decision !== 'leave') rules.recordRepair(object, one);
    return decision;
  });
}

describe('a change that comes again', () => {
  it('is left after two repairs', () => {
    const rules = new ClusterRules(() => new Date(0));
    expect(decisions(rules, drift('a'), drift('a'), drift('a'))).toEqual(['repair', 'repair again', 'leave']);
  });
  it('is counted apart from another one of the same object, so that two in turn are left, too', () => {
    const rules = new ClusterRules(() => new Date(0));
    const inTurn = [drift('a'), drift('b'), drift('a'), drift('b'), drift('a'), drift('b')];
    expect(decisions(rules, ...inTurn).slice(4)).toEqual(['leave', 'leave']);
  });
  it('does not decide about another one', () => {
    const rules = new ClusterRules(() => new Date(0));
    decisions(rules, drift('a'), drift('a'), drift('a'));
    expect(rules.decide(object, drift('b'))).toBe('repair');
  });
  it('counts as a new one after an hour without it', () => {
    const clock = { ms: 0 };
    const rules = new ClusterRules(() => new Date(clock.ms));
    decisions(rules, drift('a'), drift('a'));
    clock.ms = 3_600_001;
    expect(rules.decide(object, drift('a'))).toBe('repair');
  });
  it('stays the same one while it is left, whatever else is repaired', () => {
    const clock = { ms: 0 };
    const rules = new ClusterRules(() => new Date(clock.ms));
    decisions(rules, drift('a'), drift('a'), drift('b'));
    clock.ms = 3_000_000;
    rules.recordLeft(object, drift('a'));
    clock.ms = 6_000_000;
    expect([drift('a'), drift('b')].map((one) => rules.decide(object, one))).toEqual(['leave', 'repair']);
  });
});
