import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { compareDecimals, Decimal } from './decimal.ts';

const integerForm = /^[+-]?[0-9]+$/;
const decimalForm = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)$/;
const numberForm = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;
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
  if (integerForm.test(trimmed)) return parseInteger(trimmed) ?? refuse(trimmed);
  if (decimalForm.test(trimmed)) return Decimal.parse(trimmed) ?? refuse(trimmed);
  return numberForm.test(trimmed) ? (parseFloatOrDecimal(trimmed) ?? refuse(trimmed)) : undefined;
}

function refuse(text: string): never {
  throw new S3Error(
    'InvalidDataType',
    `The number ${text.slice(0, 64)} has more than 400 digits or an exponent above 6144.`,
  );
}

/** Reads an INT, or a DECIMAL if it is too long; undefined if it has more digits than a number has. */
export function parseInteger(text: string): bigint | Decimal | undefined {
  // Node parses short integers exactly as numbers, which is cheaper than a BigInt from text.
  if (text.length <= safeDigits) return BigInt(Number(text));
  const decimal = Decimal.parse(text);
  return decimal !== undefined && isInt64(decimal.coefficient) ? decimal.coefficient : decimal;
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
