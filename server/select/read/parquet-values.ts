import type { SchemaTree } from 'hyparquet';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { Timestamp } from '../evaluate/timestamp.ts';
import type { Value } from '../evaluate/values.ts';

/** Converts a value of a column, as the library returns it. */
export type Convert = (value: unknown) => Value;

/**
 * Returns the conversion of a column: integers of 32 bits are numbers in the library, as floats are, and become `bigint`s here.
 *
 * @throws S3Error UnsupportedParquetType, when a value of such a type is read
 */
export function converterOf(column: SchemaTree): Convert {
  const { element, children } = column;
  if (children.length === 0) return leafConverter(column);
  const kinds = new Set(leaves(column).map(numberKind));
  kinds.delete('none');
  if (kinds.size <= 1) {
    const isInteger = kinds.has('integer');
    return (value) => convertAll(value, (one) => (isInteger ? BigInt(one) : one));
  }
  const fields = new Map(children.map((child) => [child.element.name, converterOf(child)]));
  const [only] = children;
  const inner = only === undefined ? undefined : converterOf(only);
  const isList = element.repetition_type === 'REPEATED' || children.length === 1;
  const convert: Convert = (value) => {
    if (value === null || value === undefined) return null;
    if (Array.isArray(value))
      return value.map((one: unknown) => (isList && inner !== undefined ? inner(one) : convert(one)));
    if (typeof value !== 'object' || value instanceof Timestamp) return inner?.(value) ?? null;
    const record = value as Readonly<Record<string, unknown>>;
    const ofMap = fields.get('value');
    return Object.fromEntries(
      Object.entries(record).map(([name, field]) => {
        const found = fields.get(name) ?? ofMap ?? inner;
        return [name, found === undefined ? null : found(field)];
      }),
    );
  };
  return convert;
}

function leaves(node: SchemaTree): SchemaTree[] {
  return node.children.length === 0 ? [node] : node.children.flatMap(leaves);
}

/** Reports whether the numbers of a leaf are integers. Dates, times and texts are not numbers. */
function numberKind({ element }: SchemaTree): 'integer' | 'float' | 'none' {
  const { type, converted_type: converted } = element;
  if (converted === 'DECIMAL' || element.logical_type?.type === 'FLOAT16') return 'float';
  if (type === 'FLOAT' || type === 'DOUBLE') return 'float';
  if (type !== 'INT32' && type !== 'INT64') return 'none';
  return converted === 'DATE' || converted?.startsWith('TIMESTAMP') === true ? 'none' : 'integer';
}

function leafConverter(leaf: SchemaTree): Convert {
  const kind = numberKind(leaf);
  const { scale, converted_type: converted } = leaf.element;
  // The library multiplies by a power of ten, which is not exact.
  const digits = converted === 'DECIMAL' && scale !== undefined && scale >= 0 && scale <= 100 ? scale : undefined;
  return (value) => {
    if (typeof value === 'string' || typeof value === 'bigint' || typeof value === 'boolean') return value;
    if (typeof value === 'number') {
      if (kind === 'integer') return BigInt(value);
      return digits === undefined || Math.abs(value) >= 1e21 ? value : Number(value.toFixed(digits));
    }
    return convertAll(value, (one) => (kind === 'integer' ? BigInt(one) : one));
  };
}

function convertAll(value: unknown, number: (value: number) => Value): Value {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number') return number(value);
  if (typeof value === 'string' || typeof value === 'bigint' || typeof value === 'boolean') return value;
  if (value instanceof Timestamp) return value;
  if (Array.isArray(value)) return value.map((one: unknown) => convertAll(one, number));
  if (ArrayBuffer.isView(value)) {
    throw new S3Error('UnsupportedParquetType', 'Binary values of a fixed length in Parquet are not supported.');
  }
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, convertAll(field, number)]));
}

/** The parsers of dates and times for the library. */
export const timeParsers = {
  timestampFromMilliseconds: (millis: bigint) => new Timestamp(Number(millis), { digits: 3 }),
  timestampFromMicroseconds: (micros: bigint) => fromNanoseconds(micros * 1_000n, 6),
  timestampFromNanoseconds: (nanos: bigint) => fromNanoseconds(nanos, 9),
  dateFromDays: (days: number) => new Timestamp(days * 86_400_000, { precision: 'day' }),
};

function fromNanoseconds(nanos: bigint, digits: number): Timestamp {
  const rest = ((nanos % 1_000_000n) + 1_000_000n) % 1_000_000n;
  return new Timestamp(Number((nanos - rest) / 1_000_000n), { nanos: Number(rest), digits });
}
