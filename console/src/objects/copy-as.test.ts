import { beforeAll, describe, expect, it } from 'vitest';
import { copyAs, curlOf, shellQuoted } from './copy-as.ts';
import { loadPageTexts } from '../texts/texts.ts';

beforeAll(loadPageTexts);

describe('shellQuoted', () => {
  it.each([
    ['a/b.txt', 'a/b.txt'],
    ['two words', "'two words'"],
    ["it's", String.raw`'it'\''s'`],
    ['$(rm -rf ~)', "'$(rm -rf ~)'"],
    ['', "''"],
    ['-rf', '-rf'],
  ])('quotes %s', (text, quoted) => {
    expect(shellQuoted(text)).toBe(quoted);
  });
});

it.each([
  ['GET', "curl -gfOJ 'https://s3.example.com/docs/a?X-Amz-Date=1&b'"],
  ['PUT', "curl -gfT FILE 'https://s3.example.com/docs/a?X-Amz-Date=1&b'"],
] as const)('makes a command for %s', (method, text) => {
  expect(curlOf('https://s3.example.com/docs/a?X-Amz-Date=1&b', method)).toBe(text);
});

it('names the endpoint where it is known', () => {
  expect(copyAs('docs', 'a b', 'https://s3.example.com').map(({ text }) => text)).toEqual([
    's3://docs/a b',
    "coffer cat 'ALIAS/docs/a b'",
    "aws s3 cp --endpoint-url https://s3.example.com 's3://docs/a b' .",
  ]);
});
