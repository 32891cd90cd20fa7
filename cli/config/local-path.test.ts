import { describe, expect, it } from 'vitest';
import { isFileName, localPath } from './local-path.ts';

describe('a path', () => {
  it.each([
    [String.raw`C:\data\x.txt`, 'C:/data/x.txt'],
    [String.raw`..\up\ `.trim(), '../up/'],
    [String.raw`\\server\share\x`, '//server/share/x'],
    [String.raw`\\?\C:\x`, String.raw`\\?\C:\x`],
    ['C:/x', 'C:/x'],
  ])('of Windows %s is read as %s', (text, path) => {
    expect(localPath(text, 'win32')).toBe(path);
  });

  it('of another system keeps its back-slashes, which are letters of a name there', () => {
    expect(localPath(String.raw`a\b`, 'linux')).toBe(String.raw`a\b`);
  });
});

describe('the name of a file', () => {
  it.each(['', '.', '..', 'a\0b'])('is never %j', (name) => {
    expect([isFileName(name, 'linux'), isFileName(name, 'win32')]).toEqual([false, false]);
  });

  it.each([String.raw`a\b`, 'a:b', 'a*', 'a?', 'a"b', '<', 'a|b', 'a.', 'a ', 'con', 'NUL.txt', 'Lpt1.tar.gz', 'a\tb'])(
    'is not %j on Windows',
    (name) => {
      expect([isFileName(name, 'linux'), isFileName(name, 'win32')]).toEqual([true, false]);
    },
  );

  it.each(['console', 'a.b', '.hidden', 'com10', 'nulls.txt', 'é'])('is %j everywhere', (name) => {
    expect([isFileName(name, 'linux'), isFileName(name, 'win32')]).toEqual([true, true]);
  });
});
