import type { Page } from 'playwright-core';

/**
 * Runs in the page, and returns what is wrong with the layout below the elements of a selector:
 * - a text that is cut, without a way to scroll to it, or that is outside of the window. An ellipsis at the end
 *   is a cut too: a name is shortened in its middle, because its end, with the extension, identifies it;
 * - a short word of plain letters that breaks in its middle;
 * - texts or controls that overlap;
 * - a control that is outside of the window;
 * - a control of which a finger of 24 by 24 pixels misses a part (WCAG 2.2, 2.5.8). Links within a sentence are free of it.
 */
const script = `(selector) => {
  const found = new Set();
  const window_ = { left: 0, right: document.documentElement.clientWidth };
  const words = (element) =>
    (element.getAttribute('aria-label') || element.innerText || element.placeholder || element.value || '')
      .replace(/\\s+/g, ' ').trim().slice(0, 60);
  const named = (element) => element.localName + ' "' + words(element) + '"';
  const parents = (element) => {
    const list = [];
    for (let at = element; at !== null && at !== document.documentElement; at = at.parentElement) list.push(at);
    return list;
  };
  const isSmall = (element) => {
    const { width, height } = element.getBoundingClientRect();
    return width <= 1 || height <= 1;
  };
  // What is for screen readers alone, and the menu while it is closed.
  const isAside = (element) =>
    !element.checkVisibility({ visibilityProperty: true }) ||
    parents(element).some(
      (one) =>
        one.matches('.skip-link, [aria-hidden=true], [inert]') ||
        (isSmall(one) && getComputedStyle(one).overflowX !== 'visible') ||
        (one.localName === 'nav' && one.getBoundingClientRect().right <= 0),
    );
  const isFixed = (element, root) =>
    parents(element).some((one) => root.contains(one) && ['fixed', 'sticky'].includes(getComputedStyle(one).position));
  const cross = (a, b) => ({
    left: Math.max(a.left, b.left), right: Math.min(a.right, b.right),
    top: Math.max(a.top, b.top), bottom: Math.min(a.bottom, b.bottom),
  });

  for (const root of document.querySelectorAll(selector)) {
    const shown = [];
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const element = node.parentElement;
      if (node.data.trim() === '' || element.closest('script, style, title, option') || isAside(element)) continue;
      const range = document.createRange();
      for (const { 0: word, index } of node.data.matchAll(/(?<![^\\s])\\p{L}{2,14}(?![^\\s.,:;])/gu)) {
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
        if (lines.size > 1) found.add('broken: ' + word + ' in ' + named(element));
      }
      range.selectNodeContents(node);
      for (const box of range.getClientRects()) {
        let rest = { left: box.left, right: box.right, top: box.top, bottom: box.bottom };
        let cut = false;
        for (const one of parents(element)) {
          const { overflowX, overflowY, webkitLineClamp } = getComputedStyle(one);
          const bounds = one.getBoundingClientRect();
          if (overflowX === 'visible' && overflowY === 'visible') continue;
          const scrolls = ['auto', 'scroll'];
          const outX = rest.left < bounds.left - 1 || rest.right > bounds.right + 1;
          const outY = rest.top < bounds.top - 3 || rest.bottom > bounds.bottom + 3;
          if (outX && !scrolls.includes(overflowX) && !one.matches('.fitted-name *')) cut = true;
          if (outY && !scrolls.includes(overflowY) && webkitLineClamp === 'none' && !scrolls.includes(overflowX)) cut = true;
          rest = cross(rest, bounds);
          if (getComputedStyle(one).position === 'fixed') break;
        }
        if (cut) found.add('cut: ' + named(element));
        if (rest.right <= rest.left || rest.bottom <= rest.top) continue;
        if (rest.left < window_.left - 1 || rest.right > window_.right + 1) found.add('outside: ' + named(element));
        if (!isFixed(element, root)) shown.push({ element, box: rest });
      }
    }
    const controls = [...root.querySelectorAll('a[href], button, input, select, textarea, [role=tab], [tabindex="0"]')]
      .filter((element) => !isAside(element) && element.type !== 'hidden' && !element.disabled);
    for (const element of controls) {
      const { left, right } = element.getBoundingClientRect();
      const clips = parents(element).find((one) => ['hidden', 'clip'].includes(getComputedStyle(one).overflowX) && one !== element);
      const bounds = clips?.getBoundingClientRect();
      if (bounds !== undefined && (left < bounds.left - 1 || right > bounds.right + 1)) found.add('cut: ' + named(element));
      if (element.readOnly && element.scrollWidth > element.clientWidth + 1) found.add('cut: ' + named(element));
    }
    for (const [index, a] of shown.entries()) {
      for (const b of shown.slice(index + 1)) {
        if (a.element.contains(b.element) || b.element.contains(a.element)) continue;
        const { left, right, top, bottom } = cross(a.box, b.box);
        if (right - left > 2 && bottom - top > 3) found.add('overlap: ' + named(a.element) + ' and ' + named(b.element));
      }
    }
    const boxes = controls.map((element) => ({ element, box: element.getBoundingClientRect(), fixed: isFixed(element, root) }));
    for (const [index, a] of boxes.entries()) {
      if (a.box.left < window_.left - 1 || a.box.right > window_.right + 1) found.add('outside: ' + named(a.element));
      if (a.fixed) continue;
      for (const b of boxes.slice(index + 1)) {
        if (b.fixed || a.element.contains(b.element) || b.element.contains(a.element)) continue;
        // A field has its buttons inside.
        if (a.element.closest('[class*=Input-wrapper]')?.contains(b.element)) continue;
        const { left, right, top, bottom } = cross(a.box, b.box);
        if (right - left > 2 && bottom - top > 3) found.add('overlap: ' + named(a.element) + ' and ' + named(b.element));
      }
    }
    for (const element of controls) {
      if (element.matches('[tabindex="0"]:not(a, button, input)')) continue;
      if (element.localName === 'a' && getComputedStyle(element).display === 'inline') continue;
      element.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
      const { left, right, top, bottom } = element.getBoundingClientRect();
      const [x, y] = [(left + right) / 2, (top + bottom) / 2];
      const missed = [[-11, -11], [11, -11], [-11, 11], [11, 11]].filter(([dx, dy]) => {
        const hit = document.elementFromPoint(x + dx, y + dy);
        return hit === null || !(element.contains(hit) || hit.contains(element) && hit.matches('button, a') || hit.closest('label')?.control === element ||
          hit.closest('[class*=Input-wrapper]')?.contains(element));
      });
      if (missed.length > 0) {
        const size = Math.round(right - left) + 'x' + Math.round(bottom - top);
        found.add('small: ' + named(element) + ' ' + size);
      }
    }
  }
  return [...found];
}`;

/** The findings about the layout of the page, or of what a selector chooses. */
export async function layoutFindings(page: Page, selector = 'body'): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(`(${script})(${JSON.stringify(selector)})`);
}
