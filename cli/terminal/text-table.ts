import { printable } from './format.ts';

/** Columns under their titles, as wide as what is in them; the last one is not padded. */
export function textTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
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

/** `label: value` lines, the values under each other. Fields without a value are left out. */
export function textFields(fields: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined);
  const width = Math.max(...given.map(([label]) => label.length));
  return given.map(([label, value]) => `${`${label}:`.padEnd(width + 2)}${printable(value)}`.trimEnd()).join('\n');
}

/** Characters, not bytes or halves of surrogate pairs. */
function widthOf(text: string): number {
  return Array.from(text).length;
}
