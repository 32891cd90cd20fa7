import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { compareDecimals, Decimal } from './decimal.ts';

const numberForm = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;
/** Characters of a number: its digits, and zeros before and after them as its exponent allows. */
const maxText = 8_192;
/** Digits that a FLOAT has always. */
const safeDigits = 15;

export function isInt64(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}

/**
 * Reads a number as SQL and CSV write it: an INT, or a DECIMAL where it has a point or is too long, or a FLOAT where it has an exponent.
 * Undefined for any other text.
 *
 * @throws S3Error InvalidDataType for a number with more digits than one has
 */
export function parseNumber(text: string): number | bigint | Decimal | undefined {
  const trimmed = text.trim();
  if (!numberForm.test(trimmed)) return undefined;
  return numberOfForm(trimmed) ?? refuse(trimmed);
}

/** Reads a number as `parseNumber` does, but a text with more digits than a number has is no number. */
export function findNumber(text: string): number | bigint | Decimal | undefined {
  const trimmed = text.trim();
  // A long text is not searched again by each comparison of a query.
  return trimmed.length <= maxText && numberForm.test(trimmed) ? numberOfForm(trimmed) : undefined;
}

/** Reads a text that has the form of a number; undefined if it has more digits than a number has. */
function numberOfForm(text: string): number | bigint | Decimal | undefined {
  if (text.length > maxText) return undefined;
  if (/[eE]/.test(text)) return parseFloatOrDecimal(text);
  return text.includes('.') ? Decimal.parse(text) : parseInteger(text);
}

function refuse(text: string): never {
  throw new S3Error(
    'InvalidDataType',
    `The number ${text.slice(0, 64)} has more than 400 digits, an exponent above 6144 or more than ${maxText} characters.`,
  );
}

/** Reads an INT, or a DECIMAL if it is too long; undefined if it has more digits than a number has. */
export function parseInteger(text: string): bigint | Decimal | undefined {
  // Node parses short integers exactly as numbers, which is cheaper than a BigInt from text.
  if (text.length <= safeDigits) return BigInt(Number(text));
  const decimal = Decimal.parse(text);
  return decimal?.scale === 0 && isInt64(decimal.coefficient) ? decimal.coefficient : decimal;
}

/** Reads a FLOAT, or a DECIMAL where a FLOAT of 64 bits would lose digits; undefined if it has more digits than a number has. */
export function parseFloatOrDecimal(text: string): number | Decimal | undefined {
  const float = Number(text);
  const size = Math.abs(float);
  if (text.length <= safeDigits && size > 1e-290 && size < 1e290) return float;
  if (String(float) === text) return float;
  const decimal = Decimal.parse(text);
  if (decimal === undefined) return undefined;
  const held = Decimal.ofNumber(float);
  return held !== undefined && compareDecimals(held, decimal) === 0 ? float : decimal;
}
