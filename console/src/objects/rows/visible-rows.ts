/** Pixels. A million rows of this height fit into the largest element of Chromium, of 33 million pixels. */
export const rowHeight = 32;

/** Rows that are rendered before and after the visible ones, so that a small scroll shows no gap. */
const overscan = 8;

/** The place of the window in the list, in pixels. */
interface View {
  /** The height of the part of the list that is above the window; negative where the list begins below the upper edge. */
  readonly above: number;
  readonly height: number;
}

/** The rows from `first` to before `end`. */
export interface RowRange {
  readonly first: number;
  readonly end: number;
}

/** The rows to render. All have the same height, so that a list of a million rows keeps nothing for those that are not visible. */
export function visibleRows({ above, height }: View, count: number): RowRange {
  const end = Math.min(count, Math.max(0, Math.ceil((above + height) / rowHeight)) + overscan);
  const first = Math.floor(above / rowHeight) - overscan;
  // A list that became shorter than the place of the window shows its last rows until the browser moves the window.
  return { first: Math.max(0, Math.min(first, end - overscan)), end };
}
