import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { DatePart, FunctionName } from '../sql/names.ts';
import { addToDate, dateDifference, extractPart, formatTimestamp, Timestamp } from './timestamp.ts';
import { areEqual, asNumber, castValue, floatOf, type Value } from './values.ts';

/** The facts of the query that functions need besides their arguments. */
export interface FunctionContext {
  /** The time of the query. */
  readonly now: Date;
  /** All fields of the source are text, as in CSV. */
  readonly untyped: boolean;
}

/**
 * Calls a function of S3 Select. All but COALESCE and NULLIF return NULL for an argument that is NULL or MISSING.
 *
 * @throws S3Error EvaluatorInvalidArguments
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-select-sql-reference-sql-functions.html
 */
export function callFunction(
  name: FunctionName,
  operands: readonly Value[],
  part: DatePart | undefined,
  context: FunctionContext,
): Value {
  if (name === 'COALESCE') return operands.find((one) => one !== null && one !== undefined) ?? null;
  const [first, second, third] = operands;
  if (name === 'NULLIF') return areEqual(first, second, context.untyped) ? null : first;
  if (operands.some((one) => one === null || one === undefined)) return null;
  switch (name) {
    case 'CHAR_LENGTH':
      return BigInt(length(text(name, first)));
    case 'LOWER':
      return text(name, first).toLowerCase();
    case 'UPPER':
      return text(name, first).toUpperCase();
    case 'SUBSTRING':
      return substring(text(name, first), integer(name, second), operands.length > 2 ? integer(name, third) : Infinity);
    case 'TRIM_BOTH':
    case 'TRIM_LEADING':
    case 'TRIM_TRAILING':
      return trim(name, text('TRIM', first), operands.length > 1 ? text('TRIM', second) : ' ');
    case 'DATE_ADD':
      return addToDate(part ?? 'second', integer(name, first), timestamp(name, second));
    case 'DATE_DIFF':
      return BigInt(dateDifference(part ?? 'second', timestamp(name, first), timestamp(name, second)));
    case 'EXTRACT':
      return BigInt(extractPart(part ?? 'second', timestamp(name, first)));
    case 'TO_STRING':
      return formatTimestamp(timestamp(name, first), text(name, second));
    case 'TO_TIMESTAMP':
      return toTimestamp(text(name, first));
    case 'UTCNOW':
      return new Timestamp(context.now.getTime(), { digits: 3 });
    default:
      return name satisfies never;
  }
}

function invalid(name: string, wanted: string): S3Error {
  return new S3Error('EvaluatorInvalidArguments', `${name} takes ${wanted}.`);
}

function text(name: string, value: Value): string {
  if (typeof value === 'string') return value;
  throw invalid(name, 'a string');
}

function integer(name: string, value: Value): number {
  const number = asNumber(value, true);
  const float = number === undefined ? undefined : floatOf(number);
  if (float !== undefined && Number.isSafeInteger(float)) return float;
  throw invalid(name, 'an integer');
}

function timestamp(name: string, value: Value): Timestamp {
  if (value instanceof Timestamp) return value;
  throw invalid(name, 'a timestamp');
}

function toTimestamp(value: string): Value {
  try {
    return castValue(value, 'timestamp');
  } catch {
    throw new S3Error('ValueParseFailure', `TO_TIMESTAMP: ${JSON.stringify(value.slice(0, 64))} is no timestamp.`);
  }
}

function length(value: string): number {
  let count = 0;
  for (let at = 0; at < value.length; count += 1) at += (value.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return count;
}

/** Counts characters from 1. A start before the first character takes from the length, as in SQL. */
function substring(value: string, start: number, count: number): string {
  if (count < 0) throw invalid('SUBSTRING', 'a length of at least 0');
  const from = Math.max(start - 1, 0);
  const end = Math.max(start - 1 + count, from);
  if (length(value) === value.length) return value.slice(from, end);
  return Array.from(value).slice(from, end).join('');
}

function trim(name: 'TRIM_BOTH' | 'TRIM_LEADING' | 'TRIM_TRAILING', value: string, characters: string): string {
  const removed = new Set(characters);
  const all = Array.from(value);
  let start = 0;
  let end = all.length;
  if (name !== 'TRIM_TRAILING') while (start < end && removed.has(all[start] ?? '')) start += 1;
  if (name !== 'TRIM_LEADING') while (end > start && removed.has(all[end - 1] ?? '')) end -= 1;
  return all.slice(start, end).join('');
}
