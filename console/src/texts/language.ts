/** A language that the console has texts in. Another one is a folder next to `en`, with a line here and in `catalogues`. */
export const languages = ['en', 'de', 'zh'] as const;

export type Language = (typeof languages)[number];

/** The name of each language in itself. */
export const languageNames: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch', zh: '中文' };

/** Returns the first language of the user that the console has; English if it has none of them. */
export function languageOf(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const found = languages.find((language) => language === tag.toLowerCase().split('-')[0]);
    if (found !== undefined) return found;
  }
  return 'en';
}

/** Returns the locale for dates and numbers: the first of the user in this language, with its region; otherwise the language alone. */
export function localeOf(language: Language, wanted: readonly string[]): string {
  return wanted.find((tag) => languageOf([tag]) === language && tag.toLowerCase().startsWith(language)) ?? language;
}

const stored = 'coffer-language';

/** Returns the language that the user chose in this browser; undefined if the browser decides. */
function chosenLanguage(): Language | undefined {
  try {
    const name = globalThis.localStorage.getItem(stored);
    return languages.find((language) => language === name);
  } catch {
    // A browser may forbid the storage.
    return undefined;
  }
}

/** Remembers the choice of the user. It has effect when the page is loaded again. */
export function chooseLanguage(language: Language): void {
  try {
    globalThis.localStorage.setItem(stored, language);
  } catch {
    // The browser then decides at the next visit too.
  }
}

// Unit tests run without a document: their texts are English, whatever the locale of the machine is.
const wanted = typeof document === 'undefined' ? ['en'] : navigator.languages;

/** The language of this page. */
export const language: Language =
  (typeof document === 'undefined' ? undefined : chosenLanguage()) ?? languageOf(wanted);

/** The locale in which this page writes dates and numbers. */
export const locale: string = localeOf(language, wanted);
