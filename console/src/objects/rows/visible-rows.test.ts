import { describe, expect, it } from 'vitest';
import { rowHeight, visibleRows } from './visible-rows.ts';

describe('visibleRows', () => {
  it.each([
    ['the list begins in the window', { above: -200, height: 320 }, 1_000, { first: 0, end: 12 }],
    ['the list begins below the window', { above: -900, height: 320 }, 1_000, { first: 0, end: 8 }],
    ['the window is somewhere in the list', { above: 100 * rowHeight, height: 320 }, 1_000, { first: 92, end: 118 }],
    ['rows are cut at both edges', { above: 100 * rowHeight + 5, height: 320 }, 1_000, { first: 92, end: 119 }],
    ['the window is at the end', { above: 990 * rowHeight, height: 320 }, 1_000, { first: 982, end: 1_000 }],
    ['the list became short', { above: 990 * rowHeight, height: 320 }, 10, { first: 2, end: 10 }],
    ['there is no row', { above: 0, height: 320 }, 0, { first: 0, end: 0 }],
  ])('are, where %s', (_where, view, count, range) => {
    expect(visibleRows(view, count)).toEqual(range);
  });
});
