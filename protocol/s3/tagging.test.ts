import { describe, expect, it } from 'vitest';
import { parseTagging, parseTaggingHeader, writeTagging } from './tagging.ts';

const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`key-${index}`, 'v']));
const twice =
  '<Tagging><TagSet><Tag><Key>a</Key><Value>1</Value></Tag><Tag><Key>a</Key><Value>2</Value></Tag></TagSet></Tagging>';

describe('tags', () => {
  it('read back as they were written', () => {
    expect(parseTagging(writeTagging({ team: 'größe', 'a:b/c@d': '' }))).toEqual({ team: 'größe', 'a:b/c@d': '' });
    expect(parseTagging(writeTagging({}))).toEqual({});
    expect(Object.keys(parseTagging(writeTagging(many(50))))).toHaveLength(50);
  });

  it.each([
    ['too many', writeTagging(many(51)), 'BadRequest'],
    ['an empty key', writeTagging({ '': 'v' }), 'InvalidTag'],
    ['a long key', writeTagging({ ['k'.repeat(129)]: 'v' }), 'InvalidTag'],
    ['a long value', writeTagging({ k: 'v'.repeat(257) }), 'InvalidTag'],
    ['a reserved key', writeTagging({ 'aws:cost': 'v' }), 'InvalidTag'],
    ['a character that is not allowed', writeTagging({ k: 'this & that' }), 'InvalidTag'],
    ['a key given twice', twice, 'InvalidTag'],
    ['no set', '<Tagging></Tagging>', 'MalformedXML'],
    ['no value', '<Tagging><TagSet><Tag><Key>a</Key></Tag></TagSet></Tagging>', 'MalformedXML'],
  ])('are refused with %s', (_, body, code) => {
    expect(() => parseTagging(body)).toThrow(expect.objectContaining({ code }));
  });
});

describe('tags of an object', () => {
  it.each([
    ['too many', writeTagging(many(11)), 'BadRequest', 'Object tags cannot be greater than 10'],
    ['a long key', writeTagging({ ['k'.repeat(129)]: 'v' }), 'InvalidTag', 'The TagKey you have provided is invalid'],
    ['a long value', writeTagging({ k: 'v'.repeat(257) }), 'InvalidTag', 'The TagValue you have provided is invalid'],
    ['a key given twice', twice, 'InvalidTag', 'Cannot provide multiple Tags with the same key'],
  ])('are refused with %s', (_, body, code, message) => {
    expect(() => parseTagging(body, 'object')).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) as string }),
    );
  });

  it('are in the order of their keys', () => {
    expect(Object.keys(parseTagging(writeTagging({ b: '1', a: '2' }), 'object'))).toEqual(['a', 'b']);
  });
});

describe('the header x-amz-tagging', () => {
  it.each([
    ['', {}],
    ['a=b', { a: 'b' }],
    ['foo=bar&bar', { bar: '', foo: 'bar' }],
    ['a=', { a: '' }],
    ['a+b=c%20d', { 'a b': 'c d' }],
    ['gr%C3%B6%C3%9Fe=%2B', { größe: '+' }],
    ['__proto__=x', Object.fromEntries([['__proto__', 'x']])],
    [`${'k'.repeat(128)}=${'v'.repeat(256)}`, { ['k'.repeat(128)]: 'v'.repeat(256) }],
  ])('%j is %j', (text, tags) => {
    expect(parseTaggingHeader(text)).toEqual(tags);
  });

  it.each([
    ['a=b&a=c', 'InvalidArgument'],
    ['a=b&%61=c', 'InvalidArgument'],
    ['a=b=c', 'InvalidArgument'],
    ['a=%zz', 'InvalidArgument'],
    ['a=%ff', 'InvalidArgument'],
    ['=b', 'InvalidArgument'],
    ['=', 'InvalidArgument'],
    ['a=%5B%7B', 'InvalidTag'],
    ['aws:a=b', 'InvalidTag'],
    [`${'k'.repeat(129)}=v`, 'InvalidTag'],
    [`k=${'v'.repeat(257)}`, 'InvalidTag'],
    [Object.keys(many(11)).join('&'), 'BadRequest'],
  ])('%j is refused', (text, code) => {
    expect(() => parseTaggingHeader(text)).toThrow(expect.objectContaining({ code }));
  });
});
