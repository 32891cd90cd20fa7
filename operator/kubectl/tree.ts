export interface Tree {
  readonly text: string;
  readonly children?: readonly Tree[];
}

/** A tree as lines with branches. */
export function treeLines({ text, children = [] }: Tree): readonly string[] {
  const last = children.length - 1;
  const below = children.flatMap((child, index) => {
    const [head = '', ...rest] = treeLines(child);
    const [branch, stem] = index === last ? ['└─ ', '   '] : ['├─ ', '│  '];
    return [branch + head, ...rest.map((line) => stem + line)];
  });
  return [text, ...below];
}

/** Rows as columns of equal width, two spaces apart. */
export function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
  }
  return rows.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** `3s`, `12m`, `5h`, `17d`: as kubectl tells ages. Negative ones are in the future, and told without a sign. */
export function shortDuration(milliseconds: number): string {
  const seconds = Math.round(Math.abs(milliseconds) / 1000);
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 120 * 60) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86400)}d`;
}
