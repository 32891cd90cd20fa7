import { assert, constantFrom, property, string } from 'fast-check';
import { expect, it } from 'vitest';
import { decodeWords } from '../../../protocol/s3/encoded-words.ts';
import { headerText } from './encoded-words.ts';

it.each([
  ['plain', 'plain'],
  ['', ''],
  ['Grüße', '=?UTF-8?B?R3LDvMOfZQ==?='],
  [' a', '=?UTF-8?B?IGE=?='],
  ['a\nb', '=?UTF-8?B?YQpi?='],
])('the header of %j is %j', (text, header) => expect(headerText(text)).toBe(header));

it('is what S3 decodes to the text', () => {
  assert(
    property(string({ unit: 'grapheme' }), constantFrom('', '=?UTF-8?Q?a?='), (text, begin) => {
      const value = (begin + text).toWellFormed();
      expect(Buffer.from(decodeWords(headerText(value)), 'latin1').toString()).toBe(value);
    }),
  );
});
