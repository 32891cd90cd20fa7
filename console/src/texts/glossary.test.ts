import { expect, it } from 'vitest';
import { first as deFirst } from './de/first.ts';
import { pages as dePages } from './de/pages.ts';
import { first } from './en/first.ts';
import { pages } from './en/pages.ts';
import { glossary, refused } from './glossary.ts';
import type { Forms } from './translated.ts';
import { first as zhFirst } from './zh/first.ts';
import { pages as zhPages } from './zh/pages.ts';

type Texts = Readonly<Record<string, Readonly<Record<string, string | Forms>>>>;

const english = flat({ ...first, ...pages });
const translations = { de: flat({ ...deFirst, ...dePages }), zh: flat({ ...zhFirst, ...zhPages }) };

/** The texts by `part.name`, without the names of values. */
function flat(texts: Texts): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(texts).flatMap(([part, entries]) =>
      Object.entries(entries).map(([name, text]) => [
        `${part}.${name}`,
        (typeof text === 'string' ? text : Object.values(text).join(' | ')).replaceAll(/\{[^}]*\}/g, ''),
      ]),
    ),
  );
}

it.each(glossary)('"$en" has its term in each language', ({ en, ...terms }) => {
  const term = new RegExp(String.raw`\b${en.replace(/y$/, '(?:y|ie)')}s?\b`, 'i');
  const named = [...english].filter(([, text]) => term.test(text)).map(([name]) => name);
  expect(named.length).toBeGreaterThan(0);
  for (const language of ['de', 'zh'] as const) {
    const wrong = named.filter((name) => {
      const text = translations[language].get(name)?.toLowerCase() ?? '';
      return !terms[language].some((word) => text.includes(word.toLowerCase()));
    });
    expect(wrong, language).toEqual([]);
  }
});

it.each(['de', 'zh'] as const)('texts of %s have no refused word', (language) => {
  const words = Object.keys(refused[language]);
  const wrong = [...translations[language]].filter(([, text]) => words.some((word) => text.includes(word)));
  expect(wrong).toEqual([]);
});
