/** A decimal number, exact: sizes beyond 2^53 are compared too. Equal numbers have equal text. */
export interface Decimal {
  readonly value: bigint;
  /** Digits after the point that `value` holds. */
  readonly scale: number;
}

/** Undefined where the text is no integer or decimal number of at most 40 digits, such as `10`, `-1` or `2.50`. */
export function parseDecimal(text: string): Decimal | undefined {
  const [, sign = '', whole = '', fraction = ''] = /^([+-]?)(\d{1,40})(?:\.(\d{1,40}))?$/.exec(text) ?? [];
  if (whole === '') return undefined;
  return { value: BigInt(`${sign === '-' ? '-' : ''}${whole}${fraction}`), scale: fraction.length };
}

/** Negative, 0 or positive, as the first is smaller, equal or larger. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  const [left, right] = [a.value * 10n ** BigInt(b.scale), b.value * 10n ** BigInt(a.scale)];
  return left < right ? -1 : left > right ? 1 : 0;
}
