import { assert, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeWords, headerText } from './encoded-words.ts';

describe('decodeWords', () => {
  it.each([
    ['plain', 'plain'],
    ['=?UTF-8?B?R3LDvMOfZQ==?=', 'Grüße'],
    ['=?utf-8?q?Gr=C3=BC=C3=9Fe_an_alle?=', 'Grüße an alle'],
    ['=?ISO-8859-1?Q?Caf=E9?=', 'Café'],
    ['=?UTF-8?B?R3I=?= =?UTF-8?B?w7w=?=', 'Grü'],
    ['before =?UTF-8?B?w7w=?= after', 'before ü after'],
    ['=?UTF-8?B?!!!?=', '=?UTF-8?B?!!!?='],
    ['=?no-such-charset?B?w7w=?=', '=?no-such-charset?B?w7w=?='],
    ['=?UTF-8?B?/w==?=', '=?UTF-8?B?/w==?='],
    ['=?UTF-8?X?a?=', '=?UTF-8?X?a?='],
  ])('of %j is %j', (text, found) => expect(decodeWords(text)).toBe(found));

  it('is the reverse of what the page sends', () => {
    assert(
      property(string({ unit: 'grapheme' }), (text) => {
        if (/^[ -~]*$/.test(text)) return;
        expect(decodeWords(headerText(text))).toBe(text);
      }),
    );
  });
});
