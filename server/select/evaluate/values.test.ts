import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal } from './decimal.ts';
import { areEqual, compareValues, equalTo, type Numeric } from './values.ts';

/** Numbers of all types that are next to each other, so that many have one nearest FLOAT. */
const near = fc
  .record({
    base: fc.constantFrom(7n, 9_007_199_254_740_992n, 1_234_567_890_123_456_780n, 1_234_567_890_123_456_780n),
    step: fc.constantFrom(-12n, -1n, 0n, 1n, 10n, 20n, 21n),
    kind: fc.constantFrom('int', 'float', 'decimal', 'tenth'),
  })
  .map(({ base, step, kind }): Numeric => {
    const value = base + step;
    if (kind === 'float') return Number(value);
    if (kind === 'int') return value;
    return kind === 'decimal' ? new Decimal(value * 100n, 2) : new Decimal(value * 10n + 1n, 1);
  });
const extreme = fc.constantFrom<Numeric>(Infinity, -Infinity, new Decimal(1n, -400), new Decimal(-1n, -400), 5e-324);
const numeric = fc.oneof({ weight: 6, arbitrary: near }, { weight: 1, arbitrary: extreme });

function order(left: Numeric, right: Numeric): number {
  const found = compareValues(left, right, false);
  if (found === undefined) throw new Error(`no order of ${String(left)} and ${String(right)}`);
  return Math.sign(found);
}

describe('the order of INT, FLOAT and DECIMAL', () => {
  it('is one order', () => {
    fc.assert(
      fc.property(numeric, numeric, numeric, (a, b, c) => {
        expect(order(b, a)).toBe(0 - order(a, b));
        if (order(a, b) <= 0 && order(b, c) <= 0) {
          expect(order(a, c)).toBe(Math.max(-1, order(a, b) + order(b, c)));
        }
      }),
      { numRuns: 10_000 },
    );
  });

  it('has each number at the digits that it shows', () => {
    fc.assert(
      fc.property(near, (value) => {
        expect(order(value, Decimal.parse(String(value)) ?? 0n)).toBe(0);
      }),
    );
  });
});

describe('a text of CSV', () => {
  it('is equal to others by equalTo as by areEqual', () => {
    const text = fc.constantFrom('7', ' 7.0', '12e99999', 'x', '', 'true', '2020T', '9007199254740993');
    const other = fc.oneof(numeric, text, fc.boolean(), fc.constant(9_007_199_254_740_993n));
    fc.assert(
      fc.property(text, fc.array(other), fc.boolean(), (value, others, untyped) => {
        const isEqual = equalTo(value, untyped);
        for (const one of others) expect(isEqual(one)).toBe(areEqual(value, one, untyped));
      }),
    );
  });
});
