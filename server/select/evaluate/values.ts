import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { TypeName } from '../sql/names.ts';
import { parseTimestamp, Timestamp } from './timestamp.ts';

/**
 * A value of an expression. `undefined` is MISSING. A `bigint` is an INT of 64 bits, a `number` is a FLOAT or DECIMAL. Objects and arrays
 * come from JSON and Parquet.
 */
export type Value =
  | null
  | undefined
  | boolean
  | number
  | bigint
  | string
  | Timestamp
  | readonly Value[]
  | { readonly [name: string]: Value };

const numberForm = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,5})?$/;
const integerForm = /^[+-]?[0-9]{1,400}$/;

/** Reads a number as SQL writes it; undefined for any other text. */
function parseNumber(text: string): number | bigint | undefined {
  const trimmed = text.trim();
  // Node parses short integers exactly as numbers, which is cheaper than a BigInt from text.
  if (integerForm.test(trimmed)) {
    const integer = trimmed.length < 16 ? BigInt(Number(trimmed)) : BigInt(trimmed.replace('+', ''));
    return isInt64(integer) ? integer : Number(trimmed);
  }
  return trimmed.length <= 400 && numberForm.test(trimmed) ? Number(trimmed) : undefined;
}

/** Returns the number that an operand is. A text of CSV counts as the number that it has. */
export function asNumber(value: Value, untyped: boolean): number | bigint | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  return untyped && typeof value === 'string' ? parseNumber(value) : undefined;
}

/**
 * Compares two values that are neither NULL nor MISSING: negative, 0 or positive; undefined if they have no order.
 *
 * @param untyped a text that is compared with a number counts as the number that it has: all fields of CSV are text
 */
export function compareValues(left: Value, right: Value, untyped: boolean): number | undefined {
  if (typeof left === 'string' && typeof right === 'string') return left === right ? 0 : left < right ? -1 : 1;
  if (isNumeric(left) || isNumeric(right)) {
    const [a, b] = [asNumber(left, untyped), asNumber(right, untyped)];
    if (a === undefined || b === undefined) return undefined;
    return a < b ? -1 : a > b ? 1 : a === b || Number(a) === Number(b) ? 0 : undefined;
  }
  if (left instanceof Timestamp || right instanceof Timestamp) return compareTimestamps(left, right, untyped);
  if (typeof left === 'boolean' || typeof right === 'boolean') {
    const [a, b] = [asBoolean(left, untyped), asBoolean(right, untyped)];
    return a === undefined || b === undefined ? undefined : Number(a) - Number(b);
  }
  return undefined;
}

function isNumeric(value: Value): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
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

/** Reports if two values are equal. Values without an order, e.g. arrays and values of different types, are not. */
export function areEqual(left: Value, right: Value, untyped: boolean): boolean {
  return compareValues(left, right, untyped) === 0;
}

function isInt64(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}

/** @throws S3Error IntegerOverflow */
export function checkedInt(value: bigint): bigint {
  if (isInt64(value)) return value;
  throw new S3Error('IntegerOverflow');
}

/**
 * Converts a value that is neither NULL nor MISSING.
 *
 * @throws S3Error CastFailed
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-select-sql-reference-conversion.html
 */
export function castValue(value: Value, type: TypeName, scale?: number): Value {
  const converted = converters[type](value);
  if (converted === undefined) throw castFailed(value, type);
  return scale === undefined || typeof converted !== 'number' ? converted : roundTo(converted, scale);
}

const converters: Readonly<Record<TypeName, (value: Value) => Value>> = {
  int: (value) => {
    if (typeof value === 'bigint') return value;
    if (typeof value === 'boolean') return value ? 1n : 0n;
    if (typeof value === 'number') return toInteger(value);
    const parsed = typeof value === 'string' ? parseNumber(value) : undefined;
    return typeof parsed === 'bigint' ? parsed : undefined;
  },
  float: toFloat,
  decimal: toFloat,
  bool: (value) => {
    if (typeof value === 'boolean') return value;
    if (typeof value === 'string') return parseBoolean(value);
    return isNumeric(value) ? Number(value) !== 0 : undefined;
  },
  string: (value) => (isScalar(value) ? textOf(value) : undefined),
  timestamp: (value) => asTimestamp(value, true),
};

function toInteger(value: number): bigint | undefined {
  if (!Number.isFinite(value)) return undefined;
  const integer = BigInt(Math.trunc(value));
  return isInt64(integer) ? integer : undefined;
}

function toFloat(value: Value): number | undefined {
  if (typeof value === 'boolean') return Number(value);
  const parsed = asNumber(value, true);
  return parsed === undefined ? undefined : Number(parsed);
}

function roundTo(value: number, scale: number): number {
  return Math.abs(value) < 1e21 ? Number(value.toFixed(scale)) : value;
}

function isScalar(value: Value): boolean {
  return typeof value !== 'object' || value instanceof Timestamp;
}

/** Returns the text of a value, as CSV and CAST show it; '' for NULL and MISSING. */
export function textOf(value: Value): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  return typeof value !== 'object' || value instanceof Timestamp ? String(value) : jsonOf(value);
}

/** Returns the JSON of a value; MISSING is left out of objects and is null elsewhere. */
export function jsonOf(value: Value): string {
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'null';
  return typeof value === 'object' ? objectJson(value) : String(value);
}

function objectJson(value: Exclude<Value & object, null>): string {
  if (value instanceof Timestamp) return JSON.stringify(value.toString());
  if (Array.isArray(value)) return `[${value.map((one: Value) => jsonOf(one)).join(',')}]`;
  const fields: string[] = [];
  for (const [name, field] of Object.entries(value)) {
    if (field !== undefined) fields.push(`${JSON.stringify(name)}:${jsonOf(field)}`);
  }
  return `{${fields.join(',')}}`;
}

function castFailed(value: Value, type: TypeName): S3Error {
  const shown = JSON.stringify(textOf(value).slice(0, 64));
  return new S3Error(
    'CastFailed',
    `${shown} cannot be converted to ${type.toUpperCase()} by CAST in the SQL expression.`,
  );
}
