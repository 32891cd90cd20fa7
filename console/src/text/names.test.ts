import { describe, expect, it } from 'vitest';
import { hasHidden, nameEnds, nameParts, shorten } from './names.ts';

describe('nameParts', () => {
  it.each([
    ['plain.txt', [{ kind: 'text', text: 'plain.txt' }]],
    [
      'cod\u202Egpj.exe',
      [
        { kind: 'text', text: 'cod' },
        { kind: 'hidden', code: 'U+202E' },
        { kind: 'text', text: 'gpj.exe' },
      ],
    ],
    [
      'a\u200B',
      [
        { kind: 'text', text: 'a' },
        { kind: 'hidden', code: 'U+200B' },
      ],
    ],
    ['\n', [{ kind: 'hidden', code: 'U+000A' }]],
    ['\uD800', [{ kind: 'hidden', code: 'U+D800' }]],
    ['', []],
  ])('of %j', (name, parts) => {
    expect(nameParts(name)).toEqual(parts);
  });

  it.each(['файл', '文件', 'naïve', 'a b', '👍', 'עברית'])('marks nothing in %s', (name) => {
    expect(hasHidden(name)).toBe(false);
  });
});

describe('shorten', () => {
  it.each([
    ['short.txt', 20, 'short.txt'],
    ['a-very-long-name-of-a-report.txt', 16, 'a-very-lo…rt.txt'],
    ['12345', 5, '12345'],
  ])('shortens %s to %d characters', (name, max, short) => {
    expect(shorten(name, max)).toBe(short);
  });

  it('cuts no character in two', () => {
    expect(shorten('👍'.repeat(20), 9).isWellFormed()).toBe(true);
  });
});

describe('nameEnds', () => {
  it.each([
    ['calibration-2026-04.json', 'calibration-202', '6-04.json'],
    ['thirteen-char', 'thir', 'teen-char'],
    // A letter with its accent, an emoji with its skin, and a flag are one character each.
    [
      `${'e\u0301'.repeat(6)}\u{1F44D}\u{1F3FD}${'\u{1F1E9}\u{1F1EA}'.repeat(8)}`,
      'e\u0301'.repeat(6),
      `\u{1F44D}\u{1F3FD}${'\u{1F1E9}\u{1F1EA}'.repeat(8)}`,
    ],
    ['a-name-with-a-hidden\u202Egpj', 'a-name-with-a-hidden', '\u202Egpj'],
  ])('of %j', (name, head, tail) => {
    expect(nameEnds(name)).toEqual({ head, tail });
  });

  it.each(['', 'README.md', 'twelve-chars', '\u202E'])('leaves %j whole', (name) => {
    expect(nameEnds(name)).toBeUndefined();
  });
});
