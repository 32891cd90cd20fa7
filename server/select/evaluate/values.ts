import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { TypeName } from '../sql/names.ts';
import { compareDecimals, Decimal } from './decimal.ts';
import { Float32 } from './float32.ts';
import { findNumber, isInt64, parseNumber } from './numbers.ts';
import { parseTimestamp, Timestamp } from './timestamp.ts';

/**
 * A value of an expression. `undefined` is MISSING. A `bigint` is an INT of 64 bits, a `number` a FLOAT of 64 bits. Bytes, structs and arrays
 * come from JSON and Parquet.
 */
export type Value =
  | null
  | undefined
  | boolean
  | number
  | bigint
  | string
  | Decimal
  | Float32
  | Timestamp
  | Uint8Array
  | Struct
  | readonly Value[];

/**
 * An object of JSON, a group or a map of Parquet: its names in the order of the source, and the value of each. A name may occur twice. A bare
 * object of JavaScript would sort the names that are numbers, and lose `__proto__`.
 */
export class Struct {
  readonly names: readonly string[];
  readonly values: readonly Value[];

  constructor(names: readonly string[], values: readonly Value[]) {
    this.names = names;
    this.values = values;
  }
}

/** A number that operators take. */
export type Numeric = number | bigint | Decimal | Float32;

/**
 * Returns the number that an operand is. A text of CSV counts as the number that it has.
 *
 * @throws S3Error InvalidDataType for a text with more digits than a number has
 */
export function asNumber(value: Value, untyped: boolean): Numeric | undefined {
  return numberBy(parseNumber, value, untyped);
}

/** Returns the number of a text; undefined where it has none. */
type ReadNumber = (text: string) => Numeric | undefined;

function numberBy(read: ReadNumber, value: Value, untyped: boolean): Numeric | undefined {
  if (isNumeric(value)) return value;
  return untyped && typeof value === 'string' ? read(value) : undefined;
}

/** Returns the FLOAT of 64 bits that is nearest to a number. */
export function floatOf(value: Numeric): number {
  if (typeof value === 'object') return value instanceof Decimal ? value.toNumber() : value.value;
  return Number(value);
}

/** Returns a number that is not a FLOAT in base 10. */
export function decimalOf(value: bigint | Decimal): Decimal {
  return typeof value === 'bigint' ? new Decimal(value, 0) : value;
}

/**
 * Compares two values that are neither NULL nor MISSING: negative, 0 or positive; undefined if they have no order.
 *
 * @param untyped a text that is compared with a number counts as the number that it has: all fields of CSV are text
 * @throws S3Error InvalidDataType for a text with more digits than a number has, beside a number
 */
export function compareValues(left: Value, right: Value, untyped: boolean): number | undefined {
  return compareBy(parseNumber, left, right, untyped);
}

function compareBy(read: ReadNumber, left: Value, right: Value, untyped: boolean): number | undefined {
  if (typeof left === 'string' && typeof right === 'string') return compareTexts(left, right);
  if (isNumeric(left) || isNumeric(right)) {
    const [a, b] = [numberBy(read, left, untyped), numberBy(read, right, untyped)];
    return a === undefined || b === undefined ? undefined : compareNumbers(a, b);
  }
  if (left instanceof Timestamp || right instanceof Timestamp) return compareTimestamps(left, right, untyped);
  if (typeof left === 'boolean' || typeof right === 'boolean') {
    const [a, b] = [asBoolean(left, untyped), asBoolean(right, untyped)];
    return a === undefined || b === undefined ? undefined : Number(a) - Number(b);
  }
  return compareBytes(left, right);
}

/** Compares bytes with bytes, or with a text by its UTF-8: writers before the types of Parquet kept texts so. */
function compareBytes(left: Value, right: Value): number | undefined {
  if (!(left instanceof Uint8Array) && !(right instanceof Uint8Array)) return undefined;
  const [a, b] = [bytesOf(left), bytesOf(right)];
  return a === undefined || b === undefined ? undefined : Buffer.compare(a, b);
}

/** A half of a character, which escapes of JSON can have, is not UTF-8. */
function bytesOf(value: Value): Uint8Array | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? Buffer.from(value) : undefined;
  return value instanceof Uint8Array ? value : undefined;
}

/** Compares texts by their code points, as UTF-8 sorts. A `string` of JavaScript sorts characters of two units before some of one. */
function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  let at = 0;
  while (at < length && left.charCodeAt(at) === right.charCodeAt(at)) at += 1;
  if (at === length) return left.length - right.length;
  const [a, b] = [left.charCodeAt(at), right.charCodeAt(at)];
  return isSurrogate(a) === isSurrogate(b) ? a - b : isSurrogate(a) ? 1 : -1;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

function compareNumbers(left: Numeric, right: Numeric): number | undefined {
  if (isExact(left)) {
    if (isExact(right)) return compareExact(left, right);
    const order = compareWithExact(right, left);
    return order === undefined ? undefined : 0 - order;
  }
  return isExact(right) ? compareWithExact(left, right) : orderOf(floatOf(left), floatOf(right));
}

/** A DECIMAL whose nearest FLOAT is 0 is not. */
export function isZero(value: Numeric): boolean {
  return isExact(value) ? decimalOf(value).coefficient === 0n : floatOf(value) === 0;
}

function compareExact(left: bigint | Decimal, right: bigint | Decimal): number {
  if (typeof left === 'bigint' && typeof right === 'bigint') return left < right ? -1 : left > right ? 1 : 0;
  return compareDecimals(decimalOf(left), decimalOf(right));
}

/** Undefined for NaN, which has no order. */
function orderOf(left: number, right: number | bigint): number | undefined {
  if (left < right) return -1;
  if (left > right) return 1;
  // What is neither NaN nor different is equal.
  return Number.isNaN(left) || Number.isNaN(Number(right)) ? undefined : 0;
}

/** Reports whether a number is exact: an INT or a DECIMAL. */
export function isExact(value: Numeric): value is bigint | Decimal {
  return typeof value === 'bigint' || value instanceof Decimal;
}

/**
 * Compares a FLOAT with an INT or a DECIMAL. The digits that a FLOAT of 64 bits shows count: a column of JSON has all three, whose order must
 * be one. A DECIMAL beside a FLOAT of 32 bits has its precision: `0.1` is the `0.1` of the column. Undefined for NaN.
 */
function compareWithExact(float: number | Float32, exact: bigint | Decimal): number | undefined {
  const value = floatOf(float);
  // No INT or DECIMAL is infinite, though its nearest FLOAT may be.
  if (!Number.isFinite(value)) return orderOf(value, 0);
  if (typeof float !== 'number')
    return orderOf(value, typeof exact === 'bigint' ? exact : Math.fround(exact.toNumber()));
  // Rounding to a FLOAT keeps the order, so that only numbers of one FLOAT need their digits.
  const nearest = floatOf(exact);
  if (nearest !== value) return orderOf(value, nearest);
  const shown = shownDecimal(value);
  return shown === undefined ? undefined : compareDecimals(shown, decimalOf(exact));
}

function isNumeric(value: Value): value is Numeric {
  return typeof value === 'number' || typeof value === 'bigint' || value instanceof Decimal || value instanceof Float32;
}

function compareTimestamps(left: Value, right: Value, untyped: boolean): number | undefined {
  const [a, b] = [asTimestamp(left, untyped), asTimestamp(right, untyped)];
  return a === undefined || b === undefined ? undefined : a.ms - b.ms || a.nanos - b.nanos;
}

function asTimestamp(value: Value, untyped: boolean): Timestamp | undefined {
  if (value instanceof Timestamp) return value;
  return untyped && typeof value === 'string' ? parseTimestamp(value) : undefined;
}

function asBoolean(value: Value, untyped: boolean): boolean | undefined {
  if (typeof value === 'boolean') return value;
  return untyped && typeof value === 'string' ? parseBoolean(value) : undefined;
}

function parseBoolean(text: string): boolean | undefined {
  const lower = text.trim().toLowerCase();
  return lower === 'true' ? true : lower === 'false' ? false : undefined;
}

/**
 * Reports if two values are equal. Values without an order, e.g. arrays and values of different types, are not. A text with more digits than
 * a number has is equal to no number.
 */
export function areEqual(left: Value, right: Value, untyped: boolean): boolean {
  return compareBy(findNumber, left, right, untyped) === 0;
}

/** Returns what reports if a value is equal to others. It reads the number of a text once for all of them. */
export function equalTo(value: Value, untyped: boolean): (other: Value) => boolean {
  if (!untyped || typeof value !== 'string') return (other) => areEqual(value, other, untyped);
  let found: { readonly number: Numeric | undefined } | undefined;
  return (other) => {
    if (!isNumeric(other)) return areEqual(value, other, untyped);
    found ??= { number: findNumber(value) };
    return found.number !== undefined && compareNumbers(found.number, other) === 0;
  };
}

/** @throws S3Error IntegerOverflow */
export function checkedInt(value: bigint): bigint {
  if (isInt64(value)) return value;
  throw new S3Error('IntegerOverflow');
}

/**
 * Converts a value that is neither NULL nor MISSING.
 *
 * @param digits the precision and the scale of a DECIMAL
 * @throws S3Error CastFailed
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-select-sql-reference-conversion.html
 */
export function castValue(value: Value, type: TypeName, digits?: DecimalDigits): Value {
  const converted = converters[type](value);
  if (converted === undefined) throw castFailed(value, type);
  if (digits === undefined || !(converted instanceof Decimal)) return converted;
  const rounded = converted.round(digits.scale);
  if (rounded.coefficient !== 0n && rounded.digits > digits.precision) throw castFailed(value, type);
  return rounded;
}

/** The digits of a DECIMAL: all of them, and those after the point. */
export interface DecimalDigits {
  readonly precision: number;
  readonly scale: number;
}

const converters: Readonly<Record<TypeName, (value: Value) => Value>> = {
  int: toInteger,
  float: (value) => {
    const float = typeof value === 'boolean' ? Number(value) : numberOf(value, floatOf);
    // A FLOAT of the source may be infinite.
    return float !== undefined && (Number.isFinite(float) || isFloat(value)) ? float : undefined;
  },
  decimal: (value) => {
    if (typeof value === 'boolean') return new Decimal(value ? 1n : 0n, 0);
    return numberOf(value, (number) => (isExact(number) ? decimalOf(number) : shownDecimal(number)));
  },
  bool: (value) => {
    if (typeof value === 'boolean') return value;
    if (typeof value === 'string') return parseBoolean(value);
    return isNumeric(value) ? !isZero(value) : undefined;
  },
  string: (value) => {
    if (value instanceof Uint8Array) return utf8Of(value);
    return isScalar(value) ? textOf(value) : undefined;
  },
  timestamp: (value) => asTimestamp(value, true),
};

/** Converts the number that a value has; undefined if it has none. */
function numberOf<T>(value: Value, convert: (number: Numeric) => T): T | undefined {
  const number = asNumber(value, true);
  return number === undefined ? undefined : convert(number);
}

function isFloat(value: Value): value is number | Float32 {
  return typeof value === 'number' || value instanceof Float32;
}

function shownDecimal(value: number | Float32): Decimal | undefined {
  return Number.isFinite(floatOf(value)) ? Decimal.parse(String(value)) : undefined;
}

/** A text must be an integer; other numbers lose what is after their point. */
function toInteger(value: Value): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (typeof value === 'string') {
    const parsed = parseNumber(value);
    return typeof parsed === 'bigint' ? parsed : undefined;
  }
  if (value instanceof Decimal) return int64(value.truncate());
  if (!isFloat(value) || !Number.isFinite(floatOf(value))) return undefined;
  const whole = Math.trunc(floatOf(value));
  if (value instanceof Float32 || Number.isSafeInteger(whole)) return int64(BigInt(whole));
  // A larger FLOAT shows other digits than those of its binary value.
  const shown = shownDecimal(value)?.truncate();
  return shown === undefined ? undefined : int64(shown);
}

function int64(value: bigint): bigint | undefined {
  return isInt64(value) ? value : undefined;
}

/** Returns the text of bytes; undefined where they are not UTF-8. */
export function utf8Of(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** A value that is written as one text, without quotes or brackets within it. */
function isScalar(value: Value): value is Exclude<Value, Uint8Array | Struct | readonly Value[]> {
  return typeof value !== 'object' || value === null || value instanceof Timestamp || isNumeric(value);
}

/** Returns the text of a value, as CSV and CAST show it; '' for NULL and MISSING. Bytes are base64. */
export function textOf(value: Value): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  if (value instanceof Uint8Array) return base64Of(value);
  return isScalar(value) ? String(value) : jsonOf(value);
}

/**
 * Returns the JSON of a value; MISSING is left out of objects and is null elsewhere.
 *
 * @throws S3Error InvalidDataType for NaN and the infinities, which JSON cannot have
 */
export function jsonOf(value: Value): string {
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'string') return JSON.stringify(value);
  if (isFloat(value) && !Number.isFinite(floatOf(value))) {
    throw new S3Error(
      'InvalidDataType',
      `JSON has no number ${String(value)}. Write CSV, use CAST to STRING, or leave it out by WHERE.`,
    );
  }
  if (value instanceof Timestamp) return JSON.stringify(value.toString());
  if (value instanceof Uint8Array) return `"${base64Of(value)}"`;
  if (value instanceof Struct) return jsonOfFields(value.names, value.values);
  return isScalar(value) ? String(value) : `[${value.map((one) => jsonOf(one)).join(',')}]`;
}

/** Returns an object of JSON with names in their order; MISSING is left out. */
export function jsonOfFields(names: readonly string[], values: readonly Value[]): string {
  const fields: string[] = [];
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at];
    if (value !== undefined) fields.push(`${JSON.stringify(names[at] ?? `_${at + 1}`)}:${jsonOf(value)}`);
  }
  return `{${fields.join(',')}}`;
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

function castFailed(value: Value, type: TypeName): S3Error {
  const shown = JSON.stringify(textOf(value).slice(0, 64));
  return new S3Error(
    'CastFailed',
    `${shown} cannot be converted to ${type.toUpperCase()} by CAST in the SQL expression.`,
  );
}
