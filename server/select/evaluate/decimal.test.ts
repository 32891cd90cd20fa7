import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addDecimals, compareDecimals, Decimal, divideDecimals, multiplyDecimals, remainderOf } from './decimal.ts';

function parsed(text: string): Decimal {
  const value = Decimal.parse(text);
  if (value === undefined) throw new Error(`no decimal: ${text}`);
  return value;
}

/** A fraction of two integers, which has no rounding. */
type Fraction = readonly [numerator: bigint, denominator: bigint];

function fractionOf({ coefficient, scale }: Decimal): Fraction {
  return scale >= 0 ? [coefficient, 10n ** BigInt(scale)] : [coefficient * 10n ** BigInt(-scale), 1n];
}

/** Reports whether a result is as near to the exact value as a number of 38 digits can be. */
function isNearest(result: Decimal, [numerator, denominator]: Fraction): boolean {
  const [x, y] = fractionOf(result);
  const difference = x * denominator - numerator * y;
  if (difference === 0n) return true;
  // Half of the last of 38 digits: 10^-scale / 2. Zeros at the end may be left out.
  const [unit, per] = fractionOf(new Decimal(1n, result.scale + 38 - result.digits));
  const [left, right] = [2n * (difference < 0n ? -difference : difference) * per, unit * denominator * y];
  return left <= (right < 0n ? -right : right);
}

const decimals = fc
  .tuple(
    fc.oneof(fc.bigInt({ min: -999n, max: 999n }), fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n })),
    fc.oneof(fc.integer({ min: -3, max: 12 }), fc.integer({ min: -90, max: 90 })),
  )
  .map(([coefficient, scale]) => new Decimal(coefficient, scale));

describe('a decimal', () => {
  it('is its own text', () => {
    fc.assert(
      fc.property(decimals, (value) => {
        const again = parsed(String(value));
        expect(compareDecimals(again, value)).toBe(0);
        expect(JSON.stringify(JSON.parse(String(value)))).toBe(JSON.stringify(value.toNumber()));
      }),
    );
  });

  it('of nothing has one digit, whatever its scale', () => {
    expect([-3, -400, 0, 2].map((scale) => String(new Decimal(0n, scale)))).toEqual(['0', '0', '0', '0.00']);
  });

  it.each([
    ['1.10', '1.10'],
    ['-0.05', '-0.05'],
    ['00012', '12'],
    ['.5', '0.5'],
    ['5.', '5'],
    ['-1.5e3', '-1500'],
    ['1e400', '1E+400'],
    ['1.25E-500', '1.25E-500'],
    ['0.000', '0.000'],
  ])('of %s is %s', (text, shown) => {
    expect(String(parsed(text))).toBe(shown);
  });

  it.each(['1e6145', '1e-6200', '9'.repeat(401), '1e999999999999'])('has no more digits than it may: %.20s', (text) => {
    expect(Decimal.parse(text)).toBeUndefined();
  });

  it('adds, multiplies and divides to 38 digits', () => {
    fc.assert(
      fc.property(decimals, decimals, (a, b) => {
        const [[p, q], [r, s]] = [fractionOf(a), fractionOf(b)];
        expect(isNearest(addDecimals(a, b), [p * s + r * q, q * s])).toBe(true);
        expect(isNearest(multiplyDecimals(a, b), [p * r, q * s])).toBe(true);
        if (b.coefficient === 0n) return;
        const sign = r < 0n ? -1n : 1n;
        expect(isNearest(divideDecimals(a, b), [p * s * sign, q * r * sign])).toBe(true);
        const left = remainderOf(a, b);
        const whole = (p * s) / (q * r);
        expect(isNearest(left, [p * s - whole * r * q, q * s])).toBe(true);
      }),
    );
  });

  it('has the order of its value', () => {
    fc.assert(
      fc.property(decimals, decimals, (a, b) => {
        const [[p, q], [r, s]] = [fractionOf(a), fractionOf(b)];
        const difference = p * s - r * q;
        expect(Math.sign(compareDecimals(a, b))).toBe(difference < 0n ? -1 : difference > 0n ? 1 : 0);
      }),
    );
  });

  it('rounds to digits after the point, a half away from zero', () => {
    expect(['1.25', '-1.25', '1.24', '12', '1e3'].map((text) => String(parsed(text).round(1)))).toEqual([
      '1.3',
      '-1.3',
      '1.2',
      '12.0',
      '1000.0',
    ]);
  });
});
