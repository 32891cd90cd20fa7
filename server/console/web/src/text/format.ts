const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** Formats a size with at most three digits, in binary units. */
export function formatBytes(bytes: number): string {
  let [value, unit] = [bytes, 0];
  // 1023.95 KiB would round to 1024 KiB.
  while (value >= 1023.95 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const text = unit === 0 || value >= 99.95 ? value.toFixed(0) : value.toFixed(1);
  return `${text} ${units[unit] ?? ''}`;
}

const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

export function formatTime(iso: string): string {
  return dateTime.format(new Date(iso));
}

export function formatExactTime(iso: string): string {
  return exact.format(new Date(iso));
}

const steps: readonly (readonly [name: string, ms: number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/** Formats the time until a moment in its largest unit, for example `in 11 hours`; `now` if it is past. */
export function formatUntil(iso: string, nowMs: number): string {
  const left = new Date(iso).getTime() - nowMs;
  for (const [name, ms] of steps) {
    const count = Math.floor(left / ms);
    if (count >= 1) return `in ${count} ${name}${count === 1 ? '' : 's'}`;
  }
  return left > 0 ? 'in less than a minute' : 'now';
}
