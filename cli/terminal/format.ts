import { printable } from '../../platform/text/printable.ts';
import { counted } from '../../platform/text/message-text.ts';

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

/** `0B`, `12B`, `1.0KiB`, `4.9GiB`. */
export function formatSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  // Otherwise 1023.95 KiB would become 1024.0.
  while (value >= (unit === 0 ? 1_024 : 1_023.95) && unit < units.length - 1) {
    value /= 1_024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)}${units[unit]}`;
}

/** The last result. The objects of a listing often have the same second. */
let formatted = { second: Number.NaN, text: '' };

/** `2006-01-02 15:04:05 MST`, in the time zone of the machine. */
export function formatTime(date: Date): string {
  const second = Math.floor(date.getTime() / 1_000);
  if (second !== formatted.second) formatted = { second, text: timeText(date) };
  return formatted.text;
}

function timeText(date: Date): string {
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())} ${zoneOf(date)}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

/** Uses the offset, since only Intl knows the name of the zone and takes 20 ms to load. */
function zoneOf(date: Date): string {
  const minutes = -date.getTimezoneOffset();
  if (minutes === 0) return 'UTC';
  const sign = minutes < 0 ? '-' : '+';
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${sign}${String(hours).padStart(2, '0')}${rest === 0 ? '' : String(rest).padStart(2, '0')}`;
}

/** `3 days 4 hours`, `5 minutes`, `12 seconds`: the two largest units. */
export function formatDuration(seconds: number): string {
  const sizes = [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
    ['second', 1],
  ] as const;
  let rest = Math.floor(seconds);
  const parts: string[] = [];
  for (const [name, size] of sizes) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(counted(count, name));
  }
  return parts.slice(0, 2).join(' ') || '0 seconds';
}

/**
 * Aligns rows below their titles. The last column is not padded. A table that is wider than `columns`, those of the terminal,
 * becomes a block of lines for each row, so that nothing is cut.
 */
export function textTable(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  columns: number = Number.POSITIVE_INFINITY,
): string {
  const table = alignedTable(titles, rows);
  if (Math.max(...table.split('\n').map((line) => widthOf(line))) <= columns) return table;
  return rows
    .map((row) => textFields(Object.fromEntries(titles.map((title, column) => [title, row[column]]))))
    .join('\n\n');
}

function alignedTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const shown = [titles, ...rows.map((row) => row.map((cell) => printable(cell)))];
  const widths = titles.map((_, column) => Math.max(...shown.map((row) => widthOf(row[column] ?? ''))));
  return shown
    .map((row) =>
      row
        .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - widthOf(cell))))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Aligns lines of `label: value`, and omits fields without a value. */
export function textFields(fields: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined);
  const width = Math.max(...given.map(([label]) => label.length));
  return given.map(([label, value]) => `${`${label}:`.padEnd(width + 2)}${printable(value)}`.trimEnd()).join('\n');
}

/** Counts characters, not bytes or surrogates. */
function widthOf(text: string): number {
  return Array.from(text).length;
}
