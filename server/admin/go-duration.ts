/** Milliseconds. */
const units: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/**
 * Milliseconds of a duration as Go's programs write it: `1m30s`, `1.5s`, `100µs`, `0`. Undefined for what is none.
 *
 * @see https://pkg.go.dev/time#ParseDuration
 */
export function goDuration(text: string): number | undefined {
  if (text === '0') return 0;
  if (!/^(?:\d{1,15}(?:\.\d{0,9})?(?:ns|us|µs|μs|ms|s|m|h)){1,8}$/.test(text)) return undefined;
  let sum = 0;
  for (const [, amount, unit = ''] of text.matchAll(/([\d.]+)(ns|us|µs|μs|ms|s|m|h)/g)) {
    sum += Number(amount) * (units[unit] ?? 0);
  }
  return sum;
}
