import { describe, expect, it } from 'vitest';
import { indentJson, parseCsv, previewKind } from './preview-kind.ts';

describe('previewKind', () => {
  it.each([
    ['a.png', 'image/png', 'image'],
    ['a.bin', 'image/jpeg', 'image'],
    ['a.png', 'application/octet-stream', 'image'],
    ['a.png', '', 'image'],
    ['page.html', 'text/html; charset=utf-8', 'text'],
    ['page', 'application/xhtml+xml', 'text'],
    ['logo.svg', 'image/svg+xml', 'image'],
    ['data', 'application/json', 'json'],
    ['data.csv', 'text/csv', 'csv'],
    ['data.tsv', 'text/plain', 'csv'],
    ['data.parquet', 'application/octet-stream', 'parquet'],
    ['data', 'application/vnd.apache.parquet', 'parquet'],
    ['film.mp4', '', 'video'],
    ['song.mp3', 'audio/mpeg', 'audio'],
    ['paper.pdf', 'application/pdf', 'pdf'],
    ['main.rs', 'application/octet-stream', 'text'],
  ])('shows %s of type %s as %s', (key, type, kind) => {
    expect(previewKind(key, type)?.kind).toBe(kind);
  });

  it.each([
    ['program.exe', 'application/octet-stream'],
    ['a.png', 'application/zip'],
    ['a', ''],
  ])('has none for %s of type %s', (key, type) => {
    expect(previewKind(key, type)).toBeUndefined();
  });
});

describe('parseCsv', () => {
  it.each([
    [
      'a,b\n1,2\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'a;b\r\n1;2',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    ['"x, y","say ""hi""",\n', [['x, y', 'say "hi"', '']]],
    ['"two\nlines",b\n', [['two\nlines', 'b']]],
    ['', []],
  ])('splits %j', (text, rows) => {
    expect(parseCsv(text, 10)).toEqual(rows);
  });

  it('stops at the limit', () => {
    expect(parseCsv('a\n'.repeat(100), 3)).toHaveLength(3);
  });
});

it('indents JSON and leaves what is cut off', () => {
  expect([indentJson('{"a":1}'), indentJson('{"a":')]).toEqual(['{\n  "a": 1\n}', '{"a":']);
});
