import { describe, expect, it } from 'vitest';
import type { Entry } from '../entries/entry.ts';
import { parseSize } from '../entries/sizes.ts';
import { fillTemplate, splitWords } from './find-output.ts';
import { findTest, matchesFields, parseFieldTests, type FindTestOptions } from './find-tests.ts';

const now = new Date('2026-03-10T12:00:00Z');
const entry: Entry = {
  kind: 'file',
  name: 'photos/2026/Cat.jpg',
  display: 's/bucket/photos/2026/Cat.jpg',
  bucket: 'bucket',
  key: 'photos/2026/Cat.jpg',
  size: 2_048,
  modified: new Date('2026-03-08T12:00:00Z'),
  etag: 'e',
  version: { id: 'v1', latest: true, deleteMarker: false },
};

describe('a test', () => {
  it.each<[FindTestOptions, boolean]>([
    [{}, true],
    [{ name: '*.jpg' }, true],
    [{ name: 'Cat.jp?' }, true],
    [{ name: '2026' }, true],
    [{ name: 'cat.jpg' }, false],
    [{ name: 'photos/*' }, false],
    [{ path: '*/photos/*' }, true],
    [{ path: 'photos/*' }, false],
    [{ ignore: '*.jpg' }, false],
    [{ ignore: '*.png' }, true],
    [{ regex: '(?i)cat\\.(jpg|png)$' }, true],
    [{ regex: 'cat' }, false],
    [{ larger: '2KB' }, true],
    [{ larger: '2KiB' }, false],
    [{ smaller: '3k' }, true],
    [{ olderThan: '1d' }, true],
    [{ newerThan: '1d' }, false],
    [{ maxdepth: '3' }, true],
    [{ maxdepth: '2' }, false],
    [{ maxdepth: '0' }, true],
    [{ name: '*.jpg', larger: '1MB' }, false],
  ])('%j', (options, expected) => {
    expect(findTest(options, now)(entry)).toBe(expected);
  });

  it.each<FindTestOptions>([{ regex: '(' }, { larger: 'x' }, { maxdepth: 'x' }, { olderThan: 'x' }])(
    '%j is refused',
    (options) => {
      expect(() => findTest(options, now)).toThrow('Invalid --');
    },
  );

  it('of fields compares each by its own pattern', () => {
    const fields = { Colour: 'blue', size: '10' };
    expect(matchesFields(parseFieldTests('--tags', ['colour=^b', 'size=1']), fields)).toBe(true);
    expect(matchesFields(parseFieldTests('--tags', ['colour=^g']), fields)).toBe(false);
    expect(matchesFields(parseFieldTests('--tags', ['none=.*']), fields)).toBe(false);
    expect(() => parseFieldTests('--tags', ['=x'])).toThrow('Invalid --tags');
  });
});

describe('a size', () => {
  it.each([
    ['5', 5],
    ['5b', 5],
    ['10k', 10_000],
    ['10KiB', 10_240],
    ['1.5MB', 1_500_000],
    ['2gi', 2 * 1_024 ** 3],
  ])('%s', (text, bytes) => {
    expect(parseSize('--larger', text)).toBe(bytes);
  });

  it.each(['', 'k', '-1', '1x', '5i', '999999999999T'])('"%s" is refused', (text) => {
    expect(() => parseSize('--larger', text)).toThrow('Invalid --larger');
  });
});

describe('a template', () => {
  it.each([
    ['{}', 's/bucket/photos/2026/Cat.jpg'],
    ['{base} in {dir}', 'Cat.jpg in s/bucket/photos/2026'],
    ['{size} {version}', '2.0KiB v1'],
    ['{time}', '2026-03-08T12:00:00.000Z'],
    ['{"base"}', '"Cat.jpg"'],
    ['{url}', 'http://url'],
    ['{other} {"base}', '{other} {"base}'],
  ])('%s', (template, text) => {
    expect(fillTemplate(template, entry, () => 'http://url')).toBe(text);
  });
});

describe('the words of a command', () => {
  it.each([
    ['echo {} x', ['echo', '{}', 'x']],
    [`sh -c 'a b' "c d" e\\ f`, ['sh', '-c', 'a b', 'c d', 'e f']],
    ['echo "a \\" b"', ['echo', 'a " b']],
    ["a'b'c", ['abc']],
    ["echo ''", ['echo', '']],
  ])('%s', (command, words) => {
    expect(splitWords(command)).toEqual(words);
  });

  it.each(['', '  ', 'echo "a', "echo 'a", 'a\\'])('"%s" is refused', (command) => {
    expect(() => splitWords(command)).toThrow('Invalid --exec');
  });
});
