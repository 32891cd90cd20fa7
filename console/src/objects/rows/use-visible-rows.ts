import { useLayoutEffect, useState, type RefObject } from 'react';
import { flushSync } from 'react-dom';
import { visibleRows, type RowRange } from './visible-rows.ts';

/** The rows of a list that the window shows. The list scrolls with the page. */
export function useVisibleRows(list: RefObject<HTMLElement | null>, count: number): RowRange {
  const [range, setRange] = useState<RowRange>({ first: 0, end: 0 });
  useLayoutEffect(() => {
    function find(): RowRange {
      const above = -(list.current?.getBoundingClientRect().top ?? 0);
      return visibleRows({ above, height: window.innerHeight }, count);
    }
    let shown = find();
    setRange(shown);
    function follow(): void {
      const next = find();
      if (next.first === shown.first && next.end === shown.end) return;
      shown = next;
      // Rendered before the frame of this event is painted: a later frame would show a gap first.
      flushSync(() => setRange(next));
    }
    window.addEventListener('scroll', follow, { passive: true });
    window.addEventListener('resize', follow);
    return () => {
      window.removeEventListener('scroll', follow);
      window.removeEventListener('resize', follow);
    };
  }, [list, count]);
  // Until the effect of a shorter list has run.
  return { first: Math.min(range.first, count), end: Math.min(range.end, count) };
}
