import type { first } from './en/first.ts';
import type { pages } from './en/pages.ts';
import { language, type Language } from './language.ts';
import type { Translation } from './translated.ts';

/** The texts of the console, by the part of the console that shows them. `en` has the source texts. */
type Texts = typeof first & typeof pages;

interface Catalogue {
  /** The texts of the sign-in page and of the frame, which each first visit loads. */
  readonly first: () => Promise<{ readonly first: Translation<typeof first> }>;
  /** The texts of all other pages. */
  readonly pages: () => Promise<{ readonly pages: Translation<typeof pages> }>;
}

const catalogues: Readonly<Record<Language, Catalogue>> = {
  en: { first: () => import('./en/first.ts'), pages: () => import('./en/pages.ts') },
  de: { first: () => import('./de/first.ts'), pages: () => import('./de/pages.ts') },
  zh: { first: () => import('./zh/first.ts'), pages: () => import('./zh/pages.ts') },
};

/**
 * The texts in the language of the page. They are there once `loadFirstTexts` or `loadPageTexts` has ended: a module of the frame reads
 * them in its functions only, a module of a page also when it is loaded.
 */
export const t = {} as Texts;

/** Loads the texts that the sign-in page and the frame need. */
export async function loadFirstTexts(): Promise<void> {
  Object.assign(t, (await catalogues[language].first()).first);
}

let pagesLoaded: Promise<void> | undefined;

/** Loads the texts of all pages, once. */
export function loadPageTexts(): Promise<void> {
  pagesLoaded ??= load().catch((error: unknown) => {
    // A failure of the network is no reason to fail for ever.
    pagesLoaded = undefined;
    throw error;
  });
  return pagesLoaded;
}

async function load(): Promise<void> {
  Object.assign(t, (await catalogues[language].pages()).pages);
}
