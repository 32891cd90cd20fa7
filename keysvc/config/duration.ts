import { durationMs, type DurationUnit } from '../../protocol/text/duration.ts';

const units: readonly DurationUnit[] = ['ns', 'us', 'µs', 'μs', 'ms', 's', 'm', 'h', 'd'];

/**
 * Parses `30s`, `5m`, `1h30m`, `720h`, `250ms`, `1.5h` or `0` to milliseconds, rounded; undefined for other text. Beside days these are the
 * durations of Go that are not negative.
 *
 * @see https://pkg.go.dev/time#ParseDuration
 */
export function parseDuration(text: string): number | undefined {
  const written = text.replace(/^\+/, '');
  if (written === '0') return 0;
  const total = durationMs(written, units, { fractions: true });
  if (total === undefined) return undefined;
  const rounded = Math.round(total);
  // A time that is set must not become none.
  return Number.isSafeInteger(rounded) ? (rounded === 0 && total > 0 ? 1 : rounded) : undefined;
}
