import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { Aggregate } from '../sql/query.ts';
import { addNumbers } from './arithmetic.ts';
import { type Decimal, divideDecimals } from './decimal.ts';
import {
  asNumber,
  checkedInt,
  compareValues,
  decimalOf,
  isExact,
  floatOf,
  type Numeric,
  textOf,
  type Value,
} from './values.ts';

/**
 * The state of an aggregate function. It ignores NULL and MISSING.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-select-sql-reference-aggregate.html
 */
export class Accumulator {
  readonly #name: Aggregate['name'];
  readonly #untyped: boolean;
  #count = 0;
  /** An INT of any size while all values are INTs. */
  #sum: Numeric = 0n;
  #best: Value;

  /** @param untyped the fields of the source are text, and count as the numbers that they have */
  constructor(name: Aggregate['name'], untyped: boolean) {
    this.#name = name;
    this.#untyped = untyped;
  }

  /** @throws S3Error InvalidDataType for a value that the function does not take */
  add(value: Value): void {
    if (value === null || value === undefined) return;
    this.#count += 1;
    if (this.#name === 'SUM' || this.#name === 'AVG') this.#add(this.#number(value));
    else if (this.#name !== 'COUNT')
      this.#compare(this.#untyped && typeof value === 'string' ? this.#number(value) : value);
  }

  /** @throws S3Error IntegerOverflow */
  get result(): Value {
    if (this.#name === 'COUNT') return BigInt(this.#count);
    if (this.#count === 0) return null;
    if (this.#name === 'MIN' || this.#name === 'MAX') return this.#best;
    const sum = this.#sum;
    if (this.#name === 'SUM') return typeof sum === 'bigint' ? checkedInt(sum) : sum;
    if (!isExact(sum) || isSafe(sum)) return floatOf(sum) / this.#count;
    return divideDecimals(decimalOf(sum), decimalOf(BigInt(this.#count)));
  }

  #number(value: Value): Numeric {
    const number = asNumber(value, this.#untyped);
    if (number !== undefined) return number;
    throw this.#invalid(value);
  }

  #add(value: Numeric): void {
    const sum = this.#sum;
    this.#sum = typeof sum === 'bigint' && typeof value === 'bigint' ? sum + value : addNumbers(sum, value);
  }

  #compare(value: Value): void {
    if (this.#best === undefined) {
      if (compareValues(value, value, false) === undefined) throw this.#invalid(value);
      this.#best = value;
      return;
    }
    const order = compareValues(value, this.#best, false);
    if (order === undefined) throw this.#invalid(value);
    if (this.#name === 'MIN' ? order < 0 : order > 0) this.#best = value;
  }

  #invalid(value: Value): S3Error {
    const shown = JSON.stringify(textOf(value).slice(0, 64));
    return new S3Error(
      'InvalidDataType',
      `${this.#name} does not take ${shown} here. Use CAST, or leave it out by WHERE.`,
    );
  }
}

/** Reports whether a sum of INTs is a FLOAT without rounding. */
function isSafe(sum: bigint | Decimal): boolean {
  return typeof sum === 'bigint' && Number.isSafeInteger(Number(sum));
}
