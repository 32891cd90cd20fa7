import { useEffect, useRef, type RefObject } from 'react';
import { menuButtonOf } from './menu-keys.ts';

/**
 * Keeps the focus on the page. A browser gives it to the document when its element is removed or disabled: then Tab begins at the first
 * link of the frame, and a screen reader at the top. A new `pathname` is a new page.
 */
export function useKeptFocus(pathname: string): void {
  const shown = useRef(pathname);
  useEffect(watchFocus, []);
  useEffect(() => {
    if (shown.current === pathname) return;
    shown.current = pathname;
    // A field of the new page may have taken it.
    if (document.querySelector('#content')?.contains(document.activeElement) !== true) focusContent();
  }, [pathname]);
}

/** The watcher focuses these again: links, buttons and fields. */
const controls = 'a[href], button:enabled, input:enabled';

function watchFocus(): () => void {
  let last: Element | null = null;
  const remember = ({ target }: FocusEvent) => {
    if (target instanceof Element) last = target;
  };
  const observer = new MutationObserver((records) => {
    if (last === null || document.activeElement !== document.body) return;
    if (!last.isConnected) {
      const removed = last;
      if (focusContent(records.flatMap((record) => neighborOf(record, removed) ?? [])[0])) last = null;
      // A button is disabled while its call runs.
    } else if (records.some((record) => record.target === last) && last.matches(':enabled') && isHtml(last)) {
      last.focus({ preventScroll: true });
    }
  });
  document.addEventListener('focusin', remember);
  observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] });
  return () => {
    document.removeEventListener('focusin', remember);
    observer.disconnect();
  };
}

/** A control of the row after, or else before, the row that was removed with the element. */
function neighborOf({ removedNodes, nextSibling, previousSibling }: MutationRecord, element: Element) {
  const row = [...removedNodes].find((node) => node.contains(element));
  if (!(row instanceof Element) || !row.matches('tr, li, [role=row]')) return undefined;
  return [nextSibling, previousSibling]
    .flatMap((node) => (node instanceof Element ? (node.querySelector(controls) ?? []) : []))
    .find(isHtml);
}

/** Focuses the control, else the open dialog, else the content of the page. Returns false while the page has none of them. */
function focusContent(control?: HTMLElement): boolean {
  const target = control ?? document.querySelector('[role=dialog]') ?? document.querySelector('#content');
  if (!isHtml(target)) return false;
  target.focus({ preventScroll: true });
  return true;
}

function isHtml(node: unknown): node is HTMLElement {
  return node instanceof HTMLElement;
}

/** Returns the element that has the focus. For an item of a menu, which is removed with its menu, it is the button that opened the menu. */
function focusedNow(): Element | null {
  const active = document.activeElement;
  return menuButtonOf(active) ?? active;
}

/** Restores the focus when a dialog closes, so that keyboard users continue where they were. */
export function useRestoreFocus(): void {
  useEffect(() => {
    const before = focusedNow();
    return () => {
      if (isHtml(before) && before.isConnected) before.focus();
    };
  }, []);
}

/**
 * Focuses a panel next to the list when it opens and when it shows something else, since Tab would reach it after the whole list. It
 * gives the focus back when it closes.
 */
export function usePanelFocus(panel: RefObject<HTMLElement | null>, shown: string): void {
  const before = useRef<Element | null>(null);
  useEffect(() => {
    const active = document.activeElement;
    // The page was opened with its panel: the reader begins at the top.
    if (active === document.body || panel.current?.contains(active) === true) return;
    before.current = focusedNow();
    // A drawer takes the focus by itself.
    panel.current?.focus({ preventScroll: true });
  }, [panel, shown]);
  useEffect(
    () => () => {
      if (isHtml(before.current) && before.current.isConnected) before.current.focus();
    },
    [],
  );
}
