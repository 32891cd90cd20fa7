/** Returns the percentile of sorted values by the nearest rank; NaN for no values. */
export function percentile(sorted: Uint32Array, share: number): number {
  if (sorted.length === 0) return Number.NaN;
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** NaN for no values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  if (sorted.length === 0) return Number.NaN;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** The medians of the lower and of the upper half. The middle value of an odd number belongs to both halves. NaN for no values. */
export function quartiles(values: readonly number[]): readonly [lower: number, upper: number] {
  const sorted = values.toSorted((a, b) => a - b);
  const half = Math.ceil(sorted.length / 2);
  return [median(sorted.slice(0, half)), median(sorted.slice(sorted.length - half))];
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function spread(values: readonly number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/** Formats with three significant digits and separators: `18,300`, `42.1`, `0.553`. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return 'n/a';
  if (value === 0) return '0';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  const rounded = Number(value.toPrecision(3));
  return rounded.toLocaleString('en-US', { minimumFractionDigits: Math.min(digits, 4), maximumFractionDigits: 4 });
}

/** Formats a spread: `18,300 (17,900..18,600)`. */
export function withSpread({ median, min, max }: Spread, unit = ''): string {
  return `${number(median)}${unit} (${number(min)}..${number(max)})`;
}

export function mib(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0);
}
