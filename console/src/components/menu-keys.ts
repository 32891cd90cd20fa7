import { useEffect } from 'react';

/**
 * Adds keys to all menus, as the menu button pattern of ARIA describes: the arrow down opens a menu from its button, and Tab closes an open
 * one and goes on from the button. The library keeps Tab in the menu.
 *
 * @see https://www.w3.org/WAI/ARIA/apg/patterns/menu-button/
 */
export function useMenuKeys(): void {
  useEffect(() => {
    // In the capturing phase, so that it comes before the listeners of the library.
    document.addEventListener('keydown', onKey, { capture: true });
    return () => document.removeEventListener('keydown', onKey, { capture: true });
  }, []);
}

function onKey(event: KeyboardEvent): void {
  const { key, target } = event;
  if (!(target instanceof HTMLElement)) return;
  if (key === 'ArrowDown' && target.matches('button[aria-haspopup=menu][aria-expanded=false]')) {
    event.preventDefault();
    target.click();
  } else if (key === 'Tab') {
    const button = menuButtonOf(target);
    if (!(button instanceof HTMLElement)) return;
    event.stopPropagation();
    // The browser moves the focus from the button to the next control after this.
    button.focus();
    button.click();
  }
}

/** Returns the button that opened the menu of an element, or null outside of menus. */
export function menuButtonOf(element: Element | null): Element | null {
  const id = element?.closest('[role=menu]')?.getAttribute('aria-labelledby');
  return id ? document.querySelector(`#${CSS.escape(id)}`) : null;
}
