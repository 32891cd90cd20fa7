import type { Page } from 'playwright-core';

/**
 * Opens a page of the console. Within a document that is there it does as the links of the frame do, since a document costs as much
 * processor time as several checks. The same page with other parameters gets a document.
 */
export async function followPath(page: Page, consoleUrl: string, path: string): Promise<void> {
  const [from, to] = [new URL(page.url()), new URL(path, `${consoleUrl}/`)];
  if (from.origin !== to.origin || from.pathname === '/sign-in' || from.pathname === to.pathname) {
    await page.goto(to.href);
    return;
  }
  await page.evaluate(leave(to.href));
  // The page before stays until the file of the next one is there.
  await page.locator('#content h1:not([data-left])').first().waitFor();
}

/** A script that marks the page that is left, and goes to an address as the browser's buttons do. */
const leave = (href: string) => `{
  for (const heading of document.querySelectorAll('#content h1')) heading.dataset.left = '';
  history.pushState(null, '', ${JSON.stringify(href)});
  dispatchEvent(new PopStateEvent('popstate', { state: null }));
}`;
