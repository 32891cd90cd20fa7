import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { Step } from '../sql/query.ts';
import { Struct, type Value } from './values.ts';

/** A record of the source. */
export type SourceRecord =
  /** The texts of a line, and the names of the columns; the names are one array for the whole source. */
  | { readonly kind: 'fields'; readonly fields: readonly string[]; readonly names: readonly string[] | undefined }
  /** A value of JSON or Parquet. */
  | { readonly kind: 'value'; readonly value: Value };

/** Reads a field of a record. */
type FieldReader = (record: SourceRecord) => Value;

/**
 * Returns the reader of a path, whose first step is not the alias of the record.
 *
 * @param aliased the query names the record, so that `_1` cannot be the record
 * @throws S3Error InvalidColumnIndex, InvalidKeyPath
 */
export function fieldReader(steps: readonly Step[], aliased: boolean): FieldReader {
  const columns = columnReader(steps);
  return (record) => {
    return record.kind === 'fields' ? columns(record) : readValue(record.value, steps, aliased);
  };
}

function columnReader(steps: readonly Step[]): (record: Extract<SourceRecord, { kind: 'fields' }>) => Value {
  const [step, ...more] = steps;
  if (step === undefined) return ({ fields }) => fields;
  const position = 'name' in step ? positionOf(step.name) : undefined;
  let known: readonly string[] | undefined;
  let found: number | undefined;
  return ({ fields, names }) => {
    if (more.length > 0 || !('name' in step)) throw new S3Error('InvalidKeyPath', 'A field of CSV has no parts.');
    if (found === undefined || names !== known) {
      found = columnIndex(step, names, position);
      known = names;
    }
    return fields[found];
  };
}

/** Returns the index of `_1` and the like, counted from 0. */
function positionOf(name: string): number | undefined {
  return /^_[0-9]{1,6}$/.test(name) ? Number(name.slice(1)) - 1 : undefined;
}

function columnIndex(
  { name, exact }: { readonly name: string; readonly exact: boolean },
  names: readonly string[] | undefined,
  position: number | undefined,
): number {
  const index = names === undefined ? -1 : indexOfName(names, name, exact);
  if (index >= 0) return index;
  if (position === undefined) {
    throw new S3Error('MissingHeaders', `The column ${JSON.stringify(name.slice(0, 64))} is missing from the file.`);
  }
  if (position < 0) throw new S3Error('InvalidColumnIndex', 'The first column is _1.');
  return position;
}

/** Finds a name. Without quotes the case does not count. The name of two fields names neither of them. */
function indexOfName(names: readonly string[], name: string, exact: boolean): number {
  const lower = name.toLowerCase();
  const isNamed = exact ? (one: string) => one === name : (one: string) => one.toLowerCase() === lower;
  const index = names.findIndex(isNamed);
  if (index >= 0 && names.findLastIndex(isNamed) !== index) {
    throw new S3Error('AmbiguousFieldName', `The name ${JSON.stringify(name.slice(0, 64))} matches several fields.`);
  }
  return index;
}

function readValue(root: Value, steps: readonly Step[], aliased: boolean): Value {
  const [first] = steps;
  const isSelf = first !== undefined && 'name' in first && first.name === '_1' && isSelfAs(root, aliased);
  return readPath(root, isSelf ? steps.slice(1) : steps);
}

/** `_1` is the record itself, if it is not an object with such a field. */
function isSelfAs(root: Value, aliased: boolean): boolean {
  if (!(root instanceof Struct)) return true;
  return !aliased && !root.names.includes('_1');
}

/**
 * Reads a path of a value. MISSING has no parts, and every part of what is not there is MISSING.
 *
 * @throws S3Error AmbiguousFieldName
 */
export function readPath(root: Value, steps: readonly Step[]): Value {
  let value = root;
  for (const step of steps) {
    if ('index' in step) value = Array.isArray(value) ? (value as readonly Value[])[step.index] : undefined;
    else value = value instanceof Struct ? readField(value, step.name, step.exact) : undefined;
    if (value === undefined) return undefined;
  }
  return value;
}

function readField({ names, values }: Struct, name: string, exact: boolean): Value {
  const index = indexOfName(names, name, exact);
  return index < 0 ? undefined : values[index];
}
