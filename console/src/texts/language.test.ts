import { describe, expect, it } from 'vitest';
import { languageOf, localeOf } from './language.ts';

describe('languageOf', () => {
  it.each([
    [['de-AT', 'en'], 'de'],
    [['fr-FR', 'zh-TW', 'en'], 'zh'],
    [['ZH-Hans-CN'], 'zh'],
    [['fr', 'es'], 'en'],
    [['den'], 'en'],
    [[], 'en'],
  ] as const)('of %j is %s', (wanted, language) => {
    expect(languageOf(wanted)).toBe(language);
  });
});

describe('localeOf', () => {
  it.each([
    ['de', ['en-GB', 'de-CH'], 'de-CH'],
    ['en', ['en-GB', 'de-CH'], 'en-GB'],
    ['en', ['fr-FR', 'en-US'], 'en-US'],
    ['zh', ['en-GB'], 'zh'],
  ] as const)('of %s with %j is %s', (language, wanted, locale) => {
    expect(localeOf(language, wanted)).toBe(locale);
  });
});
