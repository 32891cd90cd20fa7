import { describe, expect, it } from 'vitest';
import { completed, suggestions, typedAt } from './completion.ts';

const names = ['s3:GetObject', 's3:GetObjectTagging', 's3:PutObject', 'aws:SourceIp'];
/** The caret is at the bar. */
const at = (text: string) => ({ document: text.replace('|', ''), caret: text.indexOf('|') });
const typed = (text: string) => {
  const { document, caret } = at(text);
  return typedAt(document, caret);
};

describe('typedAt', () => {
  it.each([
    ['"Action": "s3:Get|', 's3:Get'],
    ['"Action": ["s3:PutObject", "s|"]', 's'],
    ['"Action": "s3:PutObject"|', undefined],
    ['"Action": |', undefined],
    ['"a \\" quote|', 'a \\" quote'],
    ['"open\n"s3:|', 's3:'],
  ])('in %j is %j', (text, expected) => {
    expect(typed(text)?.text).toBe(expected);
  });
});

describe('suggestions', () => {
  it.each([
    ['"S3:get|', ['s3:GetObject', 's3:GetObjectTagging']],
    ['"s|', []],
    ['"aws:SourceIp|"', []],
    ['"s3:GetObject|"', ['s3:GetObject', 's3:GetObjectTagging']],
    ['x|', []],
  ])('for %j are %j', (text, expected) => {
    expect(suggestions(typed(text), names)).toEqual(expected);
  });
});

describe('completed', () => {
  it.each([
    ['{"Action": "s3:Ge|"}', '{"Action": "s3:GetObject|"}'],
    ['{"Action": "s3:Ge|', '{"Action": "s3:GetObject|"'],
    ['{"Action": "s3:Ge|tOld", "x": 1}', '{"Action": "s3:GetObject|", "x": 1}'],
  ])('%j becomes %j', (text, expected) => {
    const { document, caret } = at(text);
    const result = completed(document, caret, 's3:GetObject');
    expect(`${result.document.slice(0, result.caret)}|${result.document.slice(result.caret)}`).toBe(expected);
  });
});
