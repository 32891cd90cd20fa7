import { loadPageTexts } from '../texts/texts.ts';

/** Loads the page that follows the sign-in, while the user types. */
export async function loadFirstPage(): Promise<void> {
  try {
    // The modules of the pages read the texts.
    await loadPageTexts();
    await Promise.all([import('../buckets/buckets-page.tsx'), import('../uploads/work-tray.tsx')]);
  } catch {
    // The page is loaded again when it is opened, and shows the error then.
  }
}
