import { assert, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ArchiveNames } from './archive-names.ts';

const nameOf = (key: string, prefix = '') => new ArchiveNames().nameOf(prefix, key);

describe('the name of a key in an archive', () => {
  it.each([
    ['photos/a.jpg', 'photos/', 'a.jpg'],
    ['photos/2026/a.jpg', 'photos/', '2026/a.jpg'],
    ['../../etc/passwd', '', '___/___/etc/passwd'],
    ['/etc/passwd', '', '_/etc/passwd'],
    ['a//b', '', 'a/_/b'],
    ['a/./b', '', 'a/__/b'],
    ['C:\\windows\\x', '', 'C__windows_x'],
    ['line\nbreak', '', 'line_break'],
    ['nul', '', '_nul'],
    ['aux.txt', '', '_aux.txt'],
    ['dot. ', '', 'dot_'],
  ])('of %j below %j is %j', (key, prefix, name) => {
    expect(nameOf(key, prefix)).toBe(name);
  });

  it('is different for two keys, also where case does not count', () => {
    const names = new ArchiveNames();
    expect(['a.txt', 'A.txt', 'a.TXT', 'b', 'B'].map((key) => names.nameOf('', key))).toEqual([
      'a.txt',
      'A (2).txt',
      'a (3).TXT',
      'b',
      'B (2)',
    ]);
  });

  it('never leaves the folder', () => {
    assert(
      property(string({ unit: 'binary', minLength: 1 }), (key) => {
        const name = nameOf(key);
        expect(name).not.toMatch(/^\/|\\|(?:^|\/)\.{1,2}(?:\/|$)/);
        expect(name).not.toBe('');
      }),
    );
  });
});
