/** Milliseconds of each unit. */
const unitMs = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  y: 31_536_000_000,
} as const;

export type DurationUnit = keyof typeof unitMs;

/**
 * Returns the milliseconds of a duration that is a row of numbers with units, or undefined for other text. A number has at most nine digits,
 * or with `fractions` any number of them and a point, as Go writes durations.
 *
 * @example
 *     durationMs('1h30m', ['h', 'm', 's']); // 5_400_000
 *     durationMs('1.5h', ['h'], { fractions: true }); // 5_400_000
 *     durationMs('7d', ['h']); // undefined
 */
export function durationMs(
  text: string,
  units: readonly DurationUnit[],
  { fractions = false }: { readonly fractions?: boolean } = {},
): number | undefined {
  const amounts = fractions ? /^(?:\d+\.?\d*|\.\d+)$/ : /^\d{1,9}$/;
  const parts = [...text.matchAll(/([\d.]+)([a-zµμ]+)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) return undefined;
  let total = 0;
  for (const [, amount = '', unit = ''] of parts) {
    if (!amounts.test(amount) || !isOneOf(units, unit)) return undefined;
    total += Number(amount) * unitMs[unit];
  }
  return total;
}

function isOneOf(units: readonly DurationUnit[], unit: string): unit is DurationUnit {
  return (units as readonly string[]).includes(unit);
}
