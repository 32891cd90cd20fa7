import { describe, expect, it } from 'vitest';
import { parseTagging, writeTagging } from './tagging.ts';

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
    ['too many', writeTagging(many(51)), 'InvalidTag'],
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
