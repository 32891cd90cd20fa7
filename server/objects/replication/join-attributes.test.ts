import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Instant } from '../contract/instant.ts';
import { type DatedAttributes, joinAttributes, outlasting } from './join-attributes.ts';

const none: DatedAttributes = {
  tags: { value: {}, at: 0 },
  retention: { value: undefined, at: 0 },
  legalHold: { value: undefined, at: 0 },
  metadata: { value: { metadata: {} }, at: 0 },
};

const governance = (until: number, at: Instant): DatedAttributes['retention'] => ({
  value: { mode: 'GOVERNANCE', until: new Date(until) },
  at,
});
const compliance = (until: number, at: Instant): DatedAttributes['retention'] => ({
  value: { mode: 'COMPLIANCE', until: new Date(until) },
  at,
});

const endOf = ({ retention: { value } }: DatedAttributes) => value?.until.getTime() ?? 0;
const noRetention = (at: Instant) => ({ value: undefined, at });
const hold = (value: boolean | undefined, at: Instant) => ({ value, at });

describe('joining two retentions', () => {
  it.each([
    ['the longer COMPLIANCE, also if it is older', compliance(30, 1), compliance(10, 2)],
    ['COMPLIANCE before a newer GOVERNANCE', compliance(30, 1), governance(90, 2)],
    ['COMPLIANCE before a newer end', compliance(30, 1), noRetention(2)],
    ['what came after the end of COMPLIANCE', governance(90, 31), compliance(30, 1)],
    ['the newer GOVERNANCE', governance(10, 2), governance(30, 1)],
    ['the newer end of GOVERNANCE', noRetention(2), governance(30, 1)],
    ['the longer GOVERNANCE of one time', governance(30, 1), governance(10, 1)],
    ['GOVERNANCE before none of the same time', governance(30, 1), noRetention(1)],
    ['the newer of two times within a millisecond', noRetention('1.000002'), governance(30, '1.000001')],
  ])('keeps %s', (_what, winner, loser) => {
    expect(joinAttributes({ ...none, retention: winner }, { ...none, retention: loser }).retention).toBe(winner);
    expect(joinAttributes({ ...none, retention: loser }, { ...none, retention: winner }).retention).toBe(winner);
  });
});

describe('the GOVERNANCE that a join with COMPLIANCE loses', () => {
  it.each([
    ['is newer and ends later', compliance(30, 1), governance(90, 2), true],
    ['is older', compliance(30, 2), governance(90, 1), false],
    ['ends earlier', compliance(30, 1), governance(20, 2), false],
    ['came after the end of COMPLIANCE, and is kept', compliance(30, 1), governance(90, 31), false],
  ])('%s', (_what, one, other, isLost) => {
    expect(outlasting(one, other)).toBe(isLost ? other : undefined);
    expect(outlasting(other, one)).toBe(isLost ? other : undefined);
  });
});

describe('joining two legal holds', () => {
  it.each([
    ['the newer one that is off', hold(false, 2), hold(true, 1)],
    ['the newer one that is on', hold(true, 2), hold(false, 1)],
    ['the one that is on, of the same time', hold(true, 1), hold(false, 1)],
    ['the one that is on before one that was never set', hold(true, 0), hold(undefined, 0)],
  ])('keeps %s', (_what, winner, loser) => {
    expect(joinAttributes({ ...none, legalHold: winner }, { ...none, legalHold: loser }).legalHold).toBe(winner);
    expect(joinAttributes({ ...none, legalHold: loser }, { ...none, legalHold: winner }).legalHold).toBe(winner);
  });
});

it('keeps a lock of one side and tags of the other, which changed later', () => {
  const held = { ...none, legalHold: { value: true, at: 1 } };
  const tagged = { ...none, tags: { value: { k: 'v' }, at: 2 } };
  expect(joinAttributes(held, tagged)).toEqual({ ...held, tags: tagged.tags });
});

const at: fc.Arbitrary<Instant> = fc.oneof(fc.integer({ min: 0, max: 6 }), fc.constantFrom('3.000001', '3.000002'));
const retention = fc.option(
  fc.record({
    mode: fc.constantFrom('GOVERNANCE' as const, 'COMPLIANCE' as const),
    until: fc.integer({ min: 1, max: 8 }).map((time) => new Date(time)),
  }),
  { nil: undefined },
);
const tags = fc.dictionary(fc.constantFrom('k', 'l'), fc.constantFrom('1', '2'));
const attributes: fc.Arbitrary<DatedAttributes> = fc.record({
  tags: fc.record({ value: tags, at }),
  retention: fc.record({ value: retention, at }),
  legalHold: fc.record({ value: fc.constantFrom(undefined, false, true), at }),
  metadata: fc.record({ value: fc.record({ metadata: tags }), at }),
});

describe('joining', () => {
  it('is commutative, associative and idempotent', () => {
    fc.assert(
      fc.property(attributes, attributes, attributes, (a, b, c) => {
        expect(joinAttributes(a, b)).toEqual(joinAttributes(b, a));
        expect(joinAttributes(joinAttributes(a, b), c)).toEqual(joinAttributes(a, joinAttributes(b, c)));
        expect(joinAttributes(a, a)).toEqual(a);
      }),
      { numRuns: 2_000 },
    );
  });

  it('ends no retention earlier than its newer change said, but where `outlasting` names it', () => {
    fc.assert(
      fc.property(attributes, attributes, (a, b) => {
        if (outlasting(a.retention, b.retention) !== undefined) return;
        const [older, newer] = Number(a.retention.at) < Number(b.retention.at) ? [a, b] : [b, a];
        if (Number(older.retention.at) === Number(newer.retention.at)) return;
        // No client sets a retention that has ended.
        if (endOf(newer) <= Number(newer.retention.at)) return;
        expect(endOf(joinAttributes(a, b))).toBeGreaterThanOrEqual(endOf(newer));
      }),
      { numRuns: 2_000 },
    );
  });

  it('leaves no lock weaker than the strongest that a newer change has not taken away', () => {
    fc.assert(
      fc.property(fc.array(attributes, { minLength: 1, maxLength: 5 }), (all) => {
        const joined = all.reduce(joinAttributes);
        for (const { retention: one, legalHold } of all) {
          const isLifted = all.some(
            ({ legalHold: { value, at: lifted } }) => value !== true && Number(lifted) > Number(legalHold.at),
          );
          if (legalHold.value === true && !isLifted) expect(joined.legalHold.value).toBe(true);
          if (one.value?.mode !== 'COMPLIANCE') continue;
          const until = one.value.until.getTime();
          const isOver = all.some(
            ({ retention: { value, at: later } }) => value?.mode !== 'COMPLIANCE' && Number(later) > until,
          );
          if (isOver) continue;
          expect(joined.retention.value?.mode).toBe('COMPLIANCE');
          expect(joined.retention.value?.until.getTime()).toBeGreaterThanOrEqual(until);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
