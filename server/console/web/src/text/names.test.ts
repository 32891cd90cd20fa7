import { describe, expect, it } from 'vitest';
import { hasHidden, nameParts, shorten } from './names.ts';

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
