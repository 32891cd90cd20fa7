import { S3Error } from '../../../protocol/s3/s3-error.ts';

/** Digits of the result of an operation, as in AWS. A number that is only read may have more. */
const precision = 38;
/** Digits of a number that is read. */
const maxDigits = 400;
/** The largest exponent of a number. */
const maxExponent = 6_144;
/** The first coefficient that has too many digits for a result. */
const limit = 10n ** BigInt(precision);
/** Digits that a `number` has always. */
const safeDigits = 15;

const form = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?$/;

/** A number in base 10: `coefficient` divided by ten to the power of `scale`. */
export class Decimal {
  readonly coefficient: bigint;
  readonly scale: number;
  /** The FLOAT that a comparison asks for again and again. */
  #float: number | undefined;

  constructor(coefficient: bigint, scale: number) {
    this.coefficient = coefficient;
    this.scale = scale;
  }

  /**
   * Reads a number as SQL and JSON write it; undefined if it has more digits or a larger exponent than a number may have.
   *
   * @param text a text that is known to be a number
   */
  static parse(text: string): Decimal | undefined {
    const point = text.indexOf('.');
    // Node parses short integers exactly as numbers, which is cheaper than a BigInt from text.
    if (text.length <= safeDigits && point >= 0 && !/[eE]/.test(text)) {
      const scale = text.length - 1 - point;
      return new Decimal(BigInt(Number(text.slice(0, point) + text.slice(point + 1))), scale);
    }
    const [, sign = '', whole = '', fraction = '', exponent = '0'] = form.exec(text) ?? [];
    const written = (whole + fraction).replace(/^0+/, '');
    if (written === '') return new Decimal(0n, Math.min(fraction.length, maxDigits));
    // Zeros at the end are shown where there is room for them.
    const digits = written.length > maxDigits ? withoutZerosAtEnd(written) : written;
    const scale = fraction.length - Number(exponent) - (written.length - digits.length);
    if (digits.length > maxDigits || !(Math.abs(digits.length - 1 - scale) <= maxExponent)) return undefined;
    return new Decimal(sign === '-' ? -BigInt(digits) : BigInt(digits), scale);
  }

  /** Returns what a FLOAT shows; undefined for NaN and the infinities. */
  static ofNumber(value: number): Decimal | undefined {
    return Number.isFinite(value) ? Decimal.parse(String(value)) : undefined;
  }

  /** The nearest FLOAT of 64 bits, which is infinite beyond its range. */
  toNumber(): number {
    return (this.#float ??= Number(`${this.coefficient}e${-this.scale}`));
  }

  /** The digits as they are, with the zeros at the end: `1.10`. A small or a large number has an exponent. */
  toString(): string {
    const { coefficient, scale } = this;
    const sign = coefficient < 0n ? '-' : '';
    const digits = (coefficient < 0n ? -coefficient : coefficient).toString();
    if (scale >= 0 && scale <= maxDigits) {
      const padded = digits.padStart(scale + 1, '0');
      const point = padded.length - scale;
      return scale === 0 ? sign + padded : `${sign}${padded.slice(0, point)}.${padded.slice(point)}`;
    }
    if (coefficient === 0n && scale < 0) return '0';
    if (scale < 0 && digits.length - scale <= precision) return sign + digits + '0'.repeat(-scale);
    const exponent = digits.length - 1 - scale;
    const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
    return `${sign}${digits.charAt(0)}${fraction}E${exponent < 0 ? '-' : '+'}${Math.abs(exponent)}`;
  }

  /** The whole part. */
  truncate(): bigint {
    const { coefficient, scale } = this;
    return scale <= 0 ? coefficient * tenTo(-scale) : coefficient / tenTo(scale);
  }

  /** Rounds to digits after the point. A half goes away from zero, as in SQL. */
  round(scale: number): Decimal {
    if (this.scale <= scale) return new Decimal(this.coefficient * tenTo(scale - this.scale), scale);
    const divisor = tenTo(this.scale - scale);
    const half = this.coefficient < 0n ? -divisor / 2n : divisor / 2n;
    return new Decimal((this.coefficient + half) / divisor, scale);
  }

  /** The number of digits of the coefficient; 1 for zero. */
  get digits(): number {
    return digitsOf(this.coefficient);
  }

  negate(): Decimal {
    return new Decimal(-this.coefficient, this.scale);
  }
}

/** A regular expression would look at each of several runs of zeros from each of its zeros. */
function withoutZerosAtEnd(digits: string): string {
  let end = digits.length;
  while (digits.charAt(end - 1) === '0') end -= 1;
  return digits.slice(0, end);
}

function tenTo(exponent: number): bigint {
  return 10n ** BigInt(exponent);
}

function digitsOf(coefficient: bigint): number {
  return (coefficient < 0n ? -coefficient : coefficient).toString().length;
}

/** The exponent of the first digit. */
function magnitude(value: Decimal): number {
  return value.digits - value.scale;
}

function signOf(value: bigint): number {
  return value < 0n ? -1 : value > 0n ? 1 : 0;
}

/** Returns both coefficients at one scale. */
function aligned(a: Decimal, b: Decimal): readonly [a: bigint, b: bigint, scale: number] {
  if (a.scale === b.scale) return [a.coefficient, b.coefficient, a.scale];
  const scale = Math.max(a.scale, b.scale);
  return [a.coefficient * tenTo(scale - a.scale), b.coefficient * tenTo(scale - b.scale), scale];
}

/** Compares two numbers exactly: negative, 0 or positive. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  const [x, y] = [signOf(a.coefficient), signOf(b.coefficient)];
  if (x !== y || x === 0) return x - y;
  // Numbers of different sizes are not written out.
  const sizes = Math.abs(a.scale - b.scale) > precision ? magnitude(a) - magnitude(b) : 0;
  if (sizes !== 0) return sizes * x;
  const [left, right] = aligned(a, b);
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Rounds a result to the digits that it may have; a half goes to the even digit. */
function rounded(coefficient: bigint, scale: number): Decimal {
  if (coefficient < limit && coefficient > -limit && Math.abs(scale) <= maxExponent - precision) {
    return new Decimal(coefficient, scale);
  }
  const excess = digitsOf(coefficient) - precision;
  if (excess <= 0) return checked(new Decimal(coefficient, scale));
  const divisor = tenTo(excess);
  const quotient = coefficient / divisor;
  const rest = (coefficient < 0n ? -1n : 1n) * (coefficient % divisor) * 2n;
  const isUp = rest > divisor || (rest === divisor && quotient % 2n !== 0n);
  const whole = isUp ? quotient + (coefficient < 0n ? -1n : 1n) : quotient;
  // 9.99… becomes 10.00…, which has a digit more.
  return digitsOf(whole) > precision ? rounded(whole, scale - excess) : checked(new Decimal(whole, scale - excess));
}

/** @throws S3Error EvaluatorInvalidArguments for a number beyond the largest exponent */
function checked(value: Decimal): Decimal {
  if (Math.abs(magnitude(value)) <= maxExponent + 1 || value.coefficient === 0n) return value;
  throw new S3Error('EvaluatorInvalidArguments', 'A number of the SQL expression is too large or too small.');
}

/** @throws S3Error EvaluatorInvalidArguments */
export function addDecimals(a: Decimal, b: Decimal): Decimal {
  if (a.coefficient === 0n || b.coefficient === 0n) {
    const other = a.coefficient === 0n ? b : a;
    const scale = Math.max(a.scale, b.scale);
    const isShort = other.digits + scale - other.scale <= precision;
    return isShort ? new Decimal(other.coefficient * tenTo(scale - other.scale), scale) : other;
  }
  if (Math.abs(a.scale - b.scale) <= precision) {
    const [x, y, scale] = aligned(a, b);
    return rounded(x + y, scale);
  }
  const [large, small] = magnitude(a) < magnitude(b) ? [b, a] : [a, b];
  // A number that is too small to change a digit is not written out; its sign may still decide a half.
  const least = magnitude(large) - precision - 3;
  const reached = magnitude(small) < least && small.scale > large.scale;
  const other = reached ? new Decimal(BigInt(signOf(small.coefficient)), Math.max(large.scale, -least) + 1) : small;
  const [x, y, scale] = aligned(large, other);
  return rounded(x + y, scale);
}

/** @throws S3Error EvaluatorInvalidArguments */
export function multiplyDecimals(a: Decimal, b: Decimal): Decimal {
  return rounded(a.coefficient * b.coefficient, a.scale + b.scale);
}

/**
 * Divides by a number that is not zero. An exact result has no more digits than it needs.
 *
 * @throws S3Error EvaluatorInvalidArguments
 */
export function divideDecimals(a: Decimal, b: Decimal): Decimal {
  const scale = a.scale - b.scale;
  if (a.coefficient === 0n) return new Decimal(0n, Math.max(scale, 0));
  // Two digits more than the result has, and one for what is left over, so that a half is known.
  const shift = Math.max(0, precision + 2 - (a.digits - b.digits));
  const numerator = a.coefficient * tenTo(shift);
  const quotient = numerator / b.coefficient;
  if (numerator % b.coefficient !== 0n) {
    const sign = numerator < 0n === b.coefficient < 0n ? 1n : -1n;
    return rounded(quotient * 10n + sign, scale + shift + 1);
  }
  return shortened(rounded(quotient, scale + shift), Math.max(scale, 0));
}

/** Takes away zeros at the end down to a scale. */
function shortened({ coefficient, scale }: Decimal, least: number): Decimal {
  let [digits, at] = [coefficient, scale];
  while (at > least && digits % 10n === 0n) {
    digits /= 10n;
    at -= 1;
  }
  return new Decimal(digits, at);
}

/**
 * Returns what a division by a number that is not zero leaves over, with the sign of the dividend.
 *
 * @throws S3Error EvaluatorInvalidArguments where the quotient has more digits than a number
 */
export function remainderOf(a: Decimal, b: Decimal): Decimal {
  if (Math.abs(magnitude(a) - magnitude(b)) > 2 * maxDigits) {
    if (magnitude(a) < magnitude(b)) return a;
    throw new S3Error('EvaluatorInvalidArguments', 'The operands of % are too far from each other.');
  }
  const [x, y, scale] = aligned(a, b);
  return rounded(x % y, scale);
}
