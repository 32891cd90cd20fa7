import type { Forms } from './translated.ts';

/** The number of words from which a key that repeats the beginning of its text is a copy of it, and goes stale when the text changes. */
const minWords = 5;

/**
 * Returns the keys, as `part.name`, that are the beginning of a longer English text, such as `keepTheSecretKeyNowItIs`. A key names the place
 * and the role of its text: `credentials.secretKey.warning`.
 */
export function sentenceKeys(
  texts: Readonly<Record<string, Readonly<Record<string, string | Forms>>>>,
): readonly string[] {
  return Object.entries(texts).flatMap(([part, entries]) =>
    Object.entries(entries).flatMap(([name, text]) => {
      const forms = typeof text === 'string' ? [text] : Object.values(text);
      return forms.some((form) => beginsWith(form, name)) ? [`${part}.${name}`] : [];
    }),
  );
}

function beginsWith(text: string, name: string): boolean {
  const key = name
    .replaceAll(/([A-Z])/g, ' $1')
    .toLowerCase()
    .split(' ');
  const words = text
    .replaceAll(/\{[^}]*\}/g, '')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  return key.length >= minWords && words.length > key.length && key.every((word, at) => word === words[at]);
}
