const units: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const part = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|[smhd])/g;

/**
 * Parses `30s`, `5m`, `1h30m`, `720h`, `250ms`, `1.5h` or `0` to milliseconds, rounded; undefined for other text. Beside days these are the
 * durations of Go that are not negative.
 *
 * @see https://pkg.go.dev/time#ParseDuration
 */
export function parseDuration(text: string): number | undefined {
  const written = text.replace(/^\+/, '');
  if (written === '0') return 0;
  if (written === '' || written.replaceAll(part, '') !== '') return undefined;
  let total = 0;
  for (const [, amount, unit] of written.matchAll(part)) total += Number(amount) * (units[unit ?? ''] ?? 0);
  const rounded = Math.round(total);
  // A time that is set must not become none.
  return Number.isSafeInteger(rounded) ? (rounded === 0 && total > 0 ? 1 : rounded) : undefined;
}
