import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { percentDecode, percentEncode, percentEncodePath, reencode } from './percent-encoding.ts';

const path = { keepSlash: true, plusIsSpace: false };
const parameter = { keepSlash: false, plusIsSpace: true };

describe('re-encoding', () => {
  it.each([
    ['a%2fb', path, 'a/b'],
    ['a%2Fb', parameter, 'a%2Fb'],
    ['a%2db%5F%7e%41%39', parameter, 'a-b_~A9'],
    ["!'()*", path, '%21%27%28%29%2A'],
    ['a+b', path, 'a%2Bb'],
    ['a+b', parameter, 'a%20b'],
    ['%c3%bc\xff', path, '%C3%BC%FF'],
    ['%', path, '%25'],
    ['%zz', parameter, '%25zz'],
    ['%2', parameter, '%252'],
  ])('%s', (sent, options, expected) => {
    expect(reencode(sent, options)).toBe(expected);
  });

  it('leaves alone what is encoded as it should be', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(reencode(percentEncode(text), parameter)).toBe(percentEncode(text));
        expect(reencode(percentEncodePath(text), path)).toBe(percentEncodePath(text));
      }),
    );
  });

  it('brings every spelling of every byte into one', () => {
    for (let byte = 0; byte < 256; byte += 1) {
      const hex = byte.toString(16).padStart(2, '0');
      const character = String.fromCharCode(byte);
      const spellings = [`%${hex}`, `%${hex.toUpperCase()}`, ...('%+/'.includes(character) ? [] : [character])];
      for (const options of [path, parameter]) {
        expect(new Set(spellings.map((spelling) => reencode(spelling, options))).size).toBe(1);
      }
    }
  });
});

it('encodes what decodes again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(percentDecode(percentEncode(text))).toBe(text);
    }),
  );
});
