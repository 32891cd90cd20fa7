import type { Spread } from '../statistics.ts';

/** Three significant digits, thousands apart: `18,300`, `42.1`, `0.553`. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return 'n/a';
  if (value === 0) return '0';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  const rounded = Number(value.toPrecision(3));
  return rounded.toLocaleString('en-US', { minimumFractionDigits: Math.min(digits, 4), maximumFractionDigits: 4 });
}

/** `18,300 (17,900..18,600)`. */
export function withSpread({ median, min, max }: Spread, unit = ''): string {
  return `${number(median)}${unit} (${number(min)}..${number(max)})`;
}

export function mib(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0);
}
