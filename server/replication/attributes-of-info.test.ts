import { assert, constantFrom, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeWords } from '../../protocol/s3/encoded-words.ts';
import { attributesOfInfo, headerOf } from './attributes-of-info.ts';

const utf8 = (text: string) => Buffer.from(text).toString('latin1');

describe('the header of metadata', () => {
  it.each([
    ['bytes', utf8('Grüße'), utf8('Grüße')],
    ['words', utf8('Grüße'), '=?UTF-8?B?R3LDvMOfZQ==?='],
    ['bytes', 'a\r\nb', '=?UTF-8?B?YQ0KYg==?='],
    ['bytes', ' a', '=?UTF-8?B?IGE=?='],
    ['bytes', '', ''],
  ] as const)('as %s of %j is %j', (form, value, header) => expect(headerOf(value, form)).toBe(header));

  it('is what S3 decodes to the value, and one line', () => {
    const forms = constantFrom('bytes' as const, 'words' as const);
    assert(
      property(string({ unit: 'grapheme' }), constantFrom('', '=?UTF-8?Q?a?='), forms, (text, begin, form) => {
        const value = utf8((begin + text).toWellFormed());
        const header = headerOf(value, form);
        expect(decodeWords(header)).toBe(value);
        // A recipient of HTTP takes off spaces and tabs alone, so that the last byte of a character may look like another space.
        // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
        expect(header).not.toMatch(/[\u0000-\u0008\u000A-\u001F\u007F]|^[ \t]|[ \t]$/);
      }),
    );
  });
});

it('the storage class is that of the rule, or else that of the version unless it is a tier', () => {
  const info = { bucket: 'b', key: 'k', size: 1, etag: 'e', lastModified: new Date(), metadata: {} };
  const classOf = (own: string, storageClass?: string) =>
    attributesOfInfo({ ...info, storageClass: own }, { storageClass, form: 'words', now: new Date() }).storageClass;
  expect(classOf('REDUCED_REDUNDANCY', 'STANDARD_IA')).toBe('STANDARD_IA');
  expect(classOf('REDUCED_REDUNDANCY')).toBe('REDUCED_REDUNDANCY');
  expect(classOf('COLD')).toBeUndefined();
});
