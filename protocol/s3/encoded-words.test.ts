import { assert, constantFrom, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeWords, encodeWords } from './encoded-words.ts';

/** A header value of these characters in UTF-8. */
const utf8 = (text: string) => Buffer.from(text).toString('latin1');

describe('encodeWords', () => {
  it.each([
    ['plain', 'plain', 'plain'],
    ['UTF-8', utf8('Miniö'), '=?UTF-8?B?TWluacO2?='],
    ['ISO-8859-1', 'caf\u00e9', '=?UTF-8?B?Y2Fmw6k=?='],
    ['a tab', 'a\tb', 'a\tb'],
    ['nothing', '', ''],
    ['text that looks like a word', '=?UTF-8?B?YQ==?=', '=?UTF-8?B?PT9VVEYtOD9CP1lRPT0/PQ==?='],
    ['blanks that a header loses', ' a ', '=?UTF-8?B?IGEg?='],
    ['what is no word', 'a =? b', 'a =? b'],
  ])('of %s', (_, value, encoded) => {
    expect(encodeWords(value)).toBe(encoded);
  });

  it('cuts long values between characters, into words of at most 75 characters', () => {
    const words = encodeWords(utf8('日本'.repeat(40))).split(' ');
    expect(words.length).toBeGreaterThan(2);
    for (const word of words) {
      expect(word.length).toBeLessThanOrEqual(75);
      expect(Buffer.from(word.slice(10, -2), 'base64').toString()).toMatch(/^[日本]+$/);
    }
  });

  // A copy sends what an answer showed.
  it('is undone by decodeWords, for every text', () => {
    assert(
      property(string({ unit: 'grapheme' }), constantFrom('', 'ö', '=?UTF-8?Q?a?='), (text, begin) => {
        const value = utf8(begin + text);
        expect(decodeWords(encodeWords(value))).toBe(value);
      }),
    );
  });

  it('has no blanks at its ends, which a header loses', () => {
    assert(
      property(string({ unit: 'grapheme' }), (text) => {
        const header = encodeWords(utf8(text));
        expect(header.trim()).toBe(header);
      }),
    );
  });
});

describe('decodeWords', () => {
  it.each([
    ['=?UTF-8?B?TWluacO2?=', utf8('Miniö')],
    ['=?utf-8?q?Mini=C3=B6_x?=', utf8('Miniö x')],
    ['=?ISO-8859-1?Q?caf=E9?= au =?UTF-8?B?bGFpdA==?=', utf8('café au lait')],
    ['=?UTF-8?Q?a?= =?UTF-8?Q?b?=\t=?UTF-8?Q?c?= d', 'abc d'],
    ['=?UTF-8?Q?caf=E9?=', '=?UTF-8?Q?caf=E9?='],
    ['=?UTF-8?Q?=ZZ?=', '=?UTF-8?Q?=ZZ?='],
    ['=?UTF-8?B?!!?=', '=?UTF-8?B?!!?='],
    ['=?KOI8-R?Q?abc?=', '=?KOI8-R?Q?abc?='],
    ['=?UTF-8?X?abc?=', '=?UTF-8?X?abc?='],
    ['a =? b', 'a =? b'],
  ])('of %s', (value, text) => {
    expect(decodeWords(value)).toBe(text);
  });
});
