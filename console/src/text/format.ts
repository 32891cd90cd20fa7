import { locale } from '../texts/language.ts';
import { t } from '../texts/texts.ts';

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0, useGrouping: false });
const tenths = new Intl.NumberFormat(locale, {
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
  useGrouping: false,
});
const counts = new Intl.NumberFormat(locale);

/** Formats a size with at most three digits, in binary units. */
export function formatBytes(bytes: number): string {
  let [value, unit] = [bytes, 0];
  // 1023.95 KiB would round to 1024 KiB.
  while (value >= 1023.95 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const text = unit === 0 || value >= 99.95 ? whole.format(value) : tenths.format(value);
  return `${text} ${units[unit] ?? ''}`;
}

/** Formats a number with this count of digits after the decimal separator of the language. */
export function formatNumber(value: number, digits: number): string {
  return value.toLocaleString(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** Formats a count with the separators of the language. */
export function formatCount(count: number): string {
  return counts.format(count);
}

const dateTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
const toSecond = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' });
const toMillisecond = millisecondFormat(locale);
const exact = exactFormat(locale);
/** Days of the server are days in UTC. */
const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' });

export function formatTime(iso: string): string {
  return dateTime.format(new Date(iso));
}

/** Formats a time with seconds, for versions that follow each other within a minute. */
export function formatSecond(iso: string): string {
  return toSecond.format(new Date(iso));
}

/** Formats a time with milliseconds, for lines of a log that follow each other within a second. */
export function formatMillisecond(iso: string): string {
  return toMillisecond.format(new Date(iso));
}

/** The styles of dates have no fractions of seconds. The hour has as many digits as in the styles of the language. */
export function millisecondFormat(language: string): Intl.DateTimeFormat {
  const styled = new Intl.DateTimeFormat(language, { timeStyle: 'short' }).formatToParts(new Date(2026, 0, 1, 3));
  const hour = styled.find(({ type }) => type === 'hour')?.value ?? '';
  return new Intl.DateTimeFormat(language, {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: hour.length === 1 ? 'numeric' : '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
  });
}

/** Formats the day of a time in milliseconds since 1970. */
export function formatDay(ms: number): string {
  return day.format(ms);
}

/** The moment in words, with its zone: that of the user, or the given one. */
export function exactFormat(language: string, timeZone?: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'long', timeZone });
}

export function formatExactTime(iso: string): string {
  return exact.format(new Date(iso));
}

const zoneOf = new Intl.DateTimeFormat(locale, { timeZoneName: 'short' });

/** The name of the zone of the user at a moment, for example `GMT+1`. */
export function formatZone(iso: string): string {
  return zoneOf.formatToParts(new Date(iso)).find(({ type }) => type === 'timeZoneName')?.value ?? '';
}

const steps = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

const parts = [...steps, ['second', 1_000]] as const;

/** Formats a duration in words by its two largest units, for example `2 hours, 30 minutes`. */
export function formatDuration(seconds: number): string {
  let left = seconds * 1_000;
  const words: string[] = [];
  for (const [unit, ms] of parts) {
    const count = Math.floor(left / ms);
    left -= count * ms;
    if (count > 0)
      words.push(new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(count));
    // The unit after the largest one is the last one, also where it is 0.
    else if (words.length > 0) break;
    if (words.length === 2) break;
  }
  return new Intl.ListFormat(locale, { type: 'unit', style: 'short' }).format(words);
}

const relative = new Intl.RelativeTimeFormat(locale);

/** Formats the time until a moment in its largest unit, for example `in 11 hours`; `now` if it is past. */
export function formatUntil(iso: string, nowMs: number): string {
  const left = new Date(iso).getTime() - nowMs;
  for (const [unit, ms] of steps) {
    const count = Math.floor(left / ms);
    if (count >= 1) return relative.format(count, unit);
  }
  return left > 0 ? t.shell.inLessThanAMinute : t.shell.now;
}
