import type { SchemaElement, SchemaTree } from 'hyparquet';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { Decimal } from '../evaluate/decimal.ts';
import { Float32 } from '../evaluate/float32.ts';
import { isInt64 } from '../evaluate/numbers.ts';
import { Timestamp } from '../evaluate/timestamp.ts';
import { Struct, textOf, type Value } from '../evaluate/values.ts';
import { parseJson } from './json-value.ts';
import { isList, isText, keyOf } from './parquet-schema.ts';

/** Bytes of a decimal, which is one of 256 bits at most, and its digits after the point. */
const maxDecimalBytes = 32;
const maxScale = 76;

/** Converts a value that the library returns for a column of `physicalFile`. It may be NULL. */
export type Convert = (value: unknown) => Value;

/**
 * Returns the conversion of a column.
 *
 * @param position of the column among the elements below the root, by which the library names it
 * @throws S3Error UnsupportedParquetType
 */
export function converterOf(column: SchemaTree, position: number): Convert {
  const convert =
    column.element.repetition_type === 'REPEATED' ? listOf(itemOf(column, position)) : itemOf(column, position);
  return (value) => (value === null || value === undefined ? null : convert(value));
}

/** Returns the conversion of one value of a column that may be repeated. */
function itemOf(column: SchemaTree, position: number): Convert {
  const { element, children } = column;
  if (children.length === 0) return leafConverter(element);
  requireSupported(element);
  const [only] = children;
  if (only !== undefined && children.length === 1 && only.element.repetition_type === 'REPEATED') {
    if (isList(element) && only.children.length <= 1) return listOf(elementOf(only, position + 1));
    if (isMap(element) && only.children.length > 0) return mapOf(only, position + 1);
  }
  return structOf(column, position);
}

/** Returns the conversion of an element of a list: the group between them is not a level. */
function elementOf(repeated: SchemaTree, position: number): Convert {
  const [only] = repeated.children;
  return only === undefined ? orNull(leafConverter(repeated.element)) : converterOf(only, position + 1);
}

function isMap({ converted_type: converted, logical_type: logical }: SchemaElement): boolean {
  return converted === 'MAP' || converted === 'MAP_KEY_VALUE' || logical?.type === 'MAP';
}

function orNull(convert: Convert): Convert {
  return (value) => (value === null || value === undefined ? null : convert(value));
}

function listOf(convert: Convert): Convert {
  const item = orNull(convert);
  return (value) => arrayOf(value).map((one) => item(one));
}

function arrayOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value as readonly unknown[];
  if (ArrayBuffer.isView(value) && !(value instanceof DataView))
    return Array.from(value as unknown as Iterable<unknown>);
  throw new S3Error('ParquetParsingError', 'A list of the Parquet file has another form than its schema.');
}

/** The keys of a map are the names of a struct. */
function mapOf(entries: SchemaTree, position: number): Convert {
  const convert = listOf(structOf(entries, position));
  const key = keyOf(position);
  return (value) => {
    const found = convert(fieldOf(value, key) ?? []) as readonly (Struct | null)[];
    return new Struct(
      found.map((entry) => textOf(entry?.values[0])),
      found.map((entry) => entry?.values[1] ?? null),
    );
  };
}

function structOf({ children }: SchemaTree, position: number): Convert {
  const names = children.map(({ element }) => element.name);
  let at = position + 1;
  const fields = children.map((child) => {
    const field = { key: keyOf(at), convert: converterOf(child, at) };
    at += child.count;
    return field;
  });
  return (value) =>
    new Struct(
      names,
      fields.map(({ key, convert }) => convert(fieldOf(value, key))),
    );
}

function fieldOf(value: unknown, key: string): unknown {
  return (value as Readonly<Record<string, unknown>>)[key];
}

function requireSupported({ converted_type: converted, logical_type: logical, name }: SchemaElement): void {
  const kind = [converted, logical?.type].find((one) => one === 'INTERVAL' || one === 'BSON' || one === 'VARIANT');
  if (kind === undefined) return;
  throw new S3Error(
    'UnsupportedParquetType',
    `The column ${JSON.stringify(name.slice(0, 64))} of the Parquet file has the type ${kind}, which is not supported. Select other columns.`,
  );
}

/** Returns the conversion of the values of a leaf that are not NULL. */
function leafConverter(element: SchemaElement): Convert {
  requireSupported(element);
  const { type, converted_type: converted, logical_type: logical } = element;
  const kind = logical?.type;
  if (isText(element)) return (value) => value as string;
  if (kind === 'DECIMAL' || converted === 'DECIMAL') {
    const scale = (logical?.type === 'DECIMAL' ? logical.scale : undefined) ?? element.scale ?? 0;
    if (scale < 0 || scale > maxScale) {
      throw new S3Error('ParquetParsingError', `A decimal of the Parquet file has ${scale} digits after its point.`);
    }
    return (value) => new Decimal(integerOf(value), scale);
  }
  switch (type) {
    case 'INT32':
    case 'INT64':
      return integerConverter(element);
    case 'INT96':
      return (value) => timestampOf(value as bigint, 'NANOS');
    case 'FLOAT':
      return (value) => new Float32(value as number);
    case 'BYTE_ARRAY':
    case 'FIXED_LEN_BYTE_ARRAY':
      return bytesConverter(element);
    case 'BOOLEAN':
    case 'DOUBLE':
      return (value) => value as boolean | number;
    case undefined:
      return () => null;
    default:
      return type satisfies never;
  }
}

function integerConverter({ converted_type: converted, logical_type: logical }: SchemaElement): Convert {
  if (converted === 'DATE' || logical?.type === 'DATE') {
    return (value) => new Timestamp(Number(value) * 86_400_000, { precision: 'day' });
  }
  const unit = logical?.type === 'TIME' || logical?.type === 'TIMESTAMP' ? logical.unit : unitOf(converted);
  const isTime = logical?.type === 'TIME' || converted === 'TIME_MILLIS' || converted === 'TIME_MICROS';
  if (unit !== undefined) {
    return (value) => (isTime ? timeOf(BigInt(value as number), unit) : timestampOf(BigInt(value as number), unit));
  }
  const isUnsigned = logical?.type === 'INTEGER' ? !logical.isSigned : converted?.startsWith('UINT_') === true;
  if (!isUnsigned) return (value) => BigInt(value as number);
  return (value) => {
    const unsigned = typeof value === 'bigint' ? BigInt.asUintN(64, value) : BigInt((value as number) >>> 0);
    return isInt64(unsigned) ? unsigned : new Decimal(unsigned, 0);
  };
}

type Unit = 'MILLIS' | 'MICROS' | 'NANOS';

function unitOf(converted: SchemaElement['converted_type']): Unit | undefined {
  if (converted === 'TIME_MILLIS' || converted === 'TIMESTAMP_MILLIS') return 'MILLIS';
  return converted === 'TIME_MICROS' || converted === 'TIMESTAMP_MICROS' ? 'MICROS' : undefined;
}

/** Digits of the fraction of a second, and nanoseconds. */
const units: Readonly<Record<Unit, { readonly digits: number; readonly nanos: bigint }>> = {
  MILLIS: { digits: 3, nanos: 1_000_000n },
  MICROS: { digits: 6, nanos: 1_000n },
  NANOS: { digits: 9, nanos: 1n },
};

function timestampOf(value: bigint, unit: Unit): Timestamp {
  const { digits, nanos } = units[unit];
  const all = value * nanos;
  const rest = ((all % 1_000_000n) + 1_000_000n) % 1_000_000n;
  return new Timestamp(Number((all - rest) / 1_000_000n), { nanos: Number(rest), digits });
}

function pad(value: bigint, length: number): string {
  return String(value).padStart(length, '0');
}

/** The SQL has no type for a time of the day: it is a text that sorts as the time does, `07:08:09.010`. */
function timeOf(value: bigint, unit: Unit): string {
  const { digits, nanos } = units[unit];
  const perSecond = 1_000_000_000n / nanos;
  const seconds = value / perSecond;
  if (value < 0n || seconds >= 86_400n) {
    throw new S3Error('ParquetParsingError', `The time ${value} (${unit}) of the Parquet file is not within a day.`);
  }
  const clock = [seconds / 3_600n, (seconds / 60n) % 60n, seconds % 60n].map((part) => pad(part, 2)).join(':');
  return `${clock}.${pad(value % perSecond, digits)}`;
}

function bytesConverter({
  type_length: length,
  converted_type: converted,
  logical_type: logical,
}: SchemaElement): Convert {
  if (logical?.type === 'FLOAT16') return (value) => new Float32(float16Of(bytesOf(value)));
  if (logical?.type === 'UUID' && length === 16) return (value) => uuidOf(bytesOf(value));
  if (logical?.type === 'JSON' || converted === 'JSON') return (value) => parseJson(utf8Of(bytesOf(value)));
  return bytesOf;
}

function bytesOf(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw new S3Error('ParquetParsingError', 'A column of bytes of the Parquet file has another type.');
}

/** Reads a text. Two different texts must not become one by the mark for what is not UTF-8. */
function utf8Of(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new S3Error('InvalidTextEncoding', 'A text of the Parquet file is not valid UTF-8.');
  }
}

/** Returns the coefficient of a decimal: an integer, or bytes with the most significant one first. */
function integerOf(value: unknown): bigint {
  if (typeof value === 'bigint' || typeof value === 'number') return BigInt(value);
  const bytes = bytesOf(value);
  if (bytes.length === 0) return 0n;
  if (bytes.length > maxDecimalBytes) {
    throw new S3Error('ParquetParsingError', 'A decimal of the Parquet file has more than 256 bits.');
  }
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');
  return BigInt.asIntN(8 * bytes.length, BigInt(`0x${hex}`));
}

function float16Of(bytes: Uint8Array): number {
  const bits = ((bytes[1] ?? 0) << 8) | (bytes[0] ?? 0);
  const sign = bits >> 15 === 0 ? 1 : -1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
  return exponent === 0 ? (sign * fraction) / 2 ** 24 : sign * 2 ** (exponent - 25) * (1_024 + fraction);
}

function uuidOf(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** The parsers of the library for what `physicalFile` leaves to it. */
export const physicalParsers = {
  timestampFromNanoseconds: (nanos: bigint) => nanos,
  stringFromBytes: (bytes: Uint8Array | undefined) => bytes && utf8Of(bytes),
};
