/** The size of a plot in pixels, its largest value, and the number of values. */
export interface Plot {
  readonly width: number;
  readonly height: number;
  readonly max: number;
  readonly count: number;
}

type Values = readonly (number | undefined)[];

/** Rounds up to 1, 2, 2.5 or 5 times a power of ten. */
export function niceMax(value: number): number {
  if (!(value > 0) || !Number.isFinite(value)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const factor = [1, 2, 2.5, 5, 10].find((one) => one * power >= value * 0.999_999) ?? 10;
  return factor * power;
}

/** The line of an SVG path. It is interrupted where values are unknown; a value alone is a short line. */
export function linePath(values: Values, plot: Plot): string {
  return runsOf(values)
    .map(({ start, run }) => {
      const points = run.map((value, index) => pointAt(plot, start + index, value));
      return run.length === 1 ? `M${points[0]}h1` : `M${points.join('L')}`;
    })
    .join('');
}

/** The area below the line. */
export function areaPath(values: Values, plot: Plot): string {
  return runsOf(values)
    .filter(({ run }) => run.length > 1)
    .map(({ start, run }) => {
      const points = run.map((value, index) => pointAt(plot, start + index, value));
      const [left, right] = [xAt(plot, start), xAt(plot, start + run.length - 1)];
      return `M${left},${plot.height}L${points.join('L')}L${right},${plot.height}Z`;
    })
    .join('');
}

/** The values without the unknown ones. */
function runsOf(values: Values): readonly { readonly start: number; readonly run: readonly number[] }[] {
  const runs: { start: number; run: number[] }[] = [];
  let before = false;
  for (const [index, value] of values.entries()) {
    if (value !== undefined && before) runs.at(-1)?.run.push(value);
    else if (value !== undefined) runs.push({ start: index, run: [value] });
    before = value !== undefined;
  }
  return runs;
}

function xAt({ width, count }: Plot, index: number): string {
  return (count < 2 ? 0 : (index / (count - 1)) * width).toFixed(1);
}

function pointAt(plot: Plot, index: number, value: number): string {
  // The line has a width, which must not be cut at the edges.
  const y = plot.height - 1 - (Math.min(value, plot.max) / plot.max) * (plot.height - 2);
  return `${xAt(plot, index)},${y.toFixed(1)}`;
}
