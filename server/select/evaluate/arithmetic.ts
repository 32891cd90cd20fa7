import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { addDecimals, type Decimal, divideDecimals, multiplyDecimals, remainderOf } from './decimal.ts';
import { checkedInt, decimalOf, floatOf, isExact, isZero, type Numeric } from './values.ts';

/** An operation on two INTs, on two DECIMALs or an INT and a DECIMAL, and on numbers of which one is a FLOAT. */
interface Operation {
  readonly integers: (a: bigint, b: bigint) => bigint;
  readonly decimals: (a: Decimal, b: Decimal) => Decimal;
  readonly floats: (a: number, b: number) => number;
}

/** @throws S3Error IntegerOverflow, EvaluatorInvalidArguments */
function calculate(a: Numeric, b: Numeric, { integers, decimals, floats }: Operation): Numeric {
  if (typeof a === 'bigint' && typeof b === 'bigint') return checkedInt(integers(a, b));
  if (isExact(a) && isExact(b)) return decimals(decimalOf(a), decimalOf(b));
  const [x, y] = [operandOf(a), operandOf(b)];
  const result = floats(x, y);
  if (Number.isFinite(result) || !Number.isFinite(x) || !Number.isFinite(y)) return result;
  throw new S3Error('EvaluatorInvalidArguments', `The result for ${x} and ${y} is too large for a FLOAT.`);
}

/** Returns the FLOAT to calculate with. A FLOAT of the source may be infinite; a DECIMAL is not, though its nearest FLOAT may be. */
function operandOf(value: Numeric): number {
  const float = floatOf(value);
  if (Number.isFinite(float) || !isExact(value)) return float;
  throw new S3Error(
    'EvaluatorInvalidArguments',
    `The number ${String(value).slice(0, 64)} is too large to calculate with a FLOAT. Use CAST to DECIMAL for the FLOAT.`,
  );
}

const addition: Operation = { integers: (a, b) => a + b, decimals: addDecimals, floats: (a, b) => a + b };
const subtraction: Operation = {
  integers: (a, b) => a - b,
  decimals: (a, b) => addDecimals(a, b.negate()),
  floats: (a, b) => a - b,
};
const multiplication: Operation = { integers: (a, b) => a * b, decimals: multiplyDecimals, floats: (a, b) => a * b };
const division: Operation = { integers: (a, b) => a / b, decimals: divideDecimals, floats: (a, b) => a / b };
const remainder: Operation = { integers: (a, b) => a % b, decimals: remainderOf, floats: (a, b) => a % b };

/** @throws S3Error IntegerOverflow, EvaluatorInvalidArguments */
export function addNumbers(a: Numeric, b: Numeric): Numeric {
  return calculate(a, b, addition);
}

/** @throws S3Error IntegerOverflow, EvaluatorInvalidArguments */
export function subtractNumbers(a: Numeric, b: Numeric): Numeric {
  return calculate(a, b, subtraction);
}

/** @throws S3Error IntegerOverflow, EvaluatorInvalidArguments */
export function multiplyNumbers(a: Numeric, b: Numeric): Numeric {
  return calculate(a, b, multiplication);
}

/** @throws S3Error IntegerOverflow, EvaluatorInvalidArguments, also for a division by zero */
export function divideNumbers(a: Numeric, b: Numeric): Numeric {
  requireNotZero(b);
  return calculate(a, b, division);
}

/** @throws S3Error EvaluatorInvalidArguments, also for a division by zero */
export function remainderOfNumbers(a: Numeric, b: Numeric): Numeric {
  requireNotZero(b);
  return calculate(a, b, remainder);
}

/** @throws S3Error IntegerOverflow */
export function negateNumber(value: Numeric): Numeric {
  if (typeof value === 'bigint') return checkedInt(-value);
  return isExact(value) ? value.negate() : -floatOf(value);
}

function requireNotZero(divisor: Numeric): void {
  if (isZero(divisor)) throw new S3Error('EvaluatorInvalidArguments', 'The SQL expression divides by zero.');
}
