import { describe, expect, it } from 'vitest';
import { first as deFirst } from './de/first.ts';
import { pages as dePages } from './de/pages.ts';
import { first } from './en/first.ts';
import { pages } from './en/pages.ts';
import type { Forms } from './translated.ts';
import { first as zhFirst } from './zh/first.ts';
import { pages as zhPages } from './zh/pages.ts';

type Texts = Readonly<Record<string, Readonly<Record<string, string | Forms>>>>;

const english: Texts = { ...first, ...pages };
const translations: Readonly<Record<string, Texts>> = {
  de: { ...deFirst, ...dePages },
  zh: { ...zhFirst, ...zhPages },
};

/** The texts of a catalogue by `part.name`, each with its forms. */
function flat(texts: Texts): ReadonlyMap<string, readonly string[]> {
  return new Map(
    Object.entries(texts).flatMap(([part, entries]) =>
      Object.entries(entries).map(([name, text]) => [
        `${part}.${name}`,
        typeof text === 'string' ? [text] : Object.values(text),
      ]),
    ),
  );
}

function names(text: string | undefined): string {
  return [...(text ?? '').matchAll(/\{(\w+)\}/g)]
    .map(([, name = '']) => name)
    .toSorted()
    .join(' ');
}

const source = flat(english);

it('the forms of an English text have the same values in braces', () => {
  const different = [...source].filter(([, forms]) => new Set(forms.map(names)).size > 1);
  expect(different).toEqual([]);
});

it('English texts name a missing right as `the right` and its action', () => {
  const different = [...source.values()]
    .flat()
    .filter(
      (text) =>
        /(?:need|allow)s? .*\b(?:s3|admin):/.test(text) &&
        !/need (?:the right|rights such as) (?:s3|admin):/.test(text),
    );
  expect(different).toEqual([]);
});

describe.each(Object.entries(translations))('the texts in %s', (language, texts) => {
  const translated = flat(texts);

  it('are those of the English catalogue', () => {
    expect([...translated.keys()].toSorted()).toEqual([...source.keys()].toSorted());
  });

  it('have the same values in braces', () => {
    const different = [...source].flatMap(([name, forms]) =>
      (translated.get(name) ?? [])
        .filter((text) => names(text) !== names(forms.at(-1)))
        .map((text) => `${name}: ${text}`),
    );
    expect(different).toEqual([]);
  });

  it('have every form that the language needs', () => {
    const needed = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
    const missing = Object.entries(texts).flatMap(([part, entries]) =>
      Object.entries(entries)
        .filter(([, text]) => typeof text !== 'string' && needed.some((category) => text[category] === undefined))
        .map(([name]) => `${part}.${name}`),
    );
    expect(missing).toEqual([]);
  });

  it('are translated', () => {
    // One word may be the same in both languages; a sentence is not.
    const same = [...source].filter(
      ([name, forms]) => /[a-z] [a-z]+ [a-z]/.test(forms[0] ?? '') && translated.get(name)?.[0] === forms[0],
    );
    expect(same).toEqual([]);
  });
});
