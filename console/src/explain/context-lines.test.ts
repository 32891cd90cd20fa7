import { beforeAll, describe, expect, it } from 'vitest';
import { parseContext } from './context-lines.ts';
import { loadPageTexts } from '../texts/texts.ts';

beforeAll(loadPageTexts);

describe('parseContext', () => {
  it('takes any key', () => {
    const read = parseContext('constructor=a\n__proto__=b\nconstructor=c');
    expect(read.kind === 'read' && Object.entries(read.values)).toEqual([
      ['constructor', ['a', 'c']],
      ['__proto__', ['b']],
    ]);
  });

  it('reads a key and a value from each line', () => {
    const read = { kind: 'read', values: { 'aws:SourceIp': ['192.0.2.7'], 's3:prefix': ['a=b'] } };
    expect(parseContext(' aws:SourceIp = 192.0.2.7\n\ns3:prefix=a=b\n')).toEqual(read);
  });

  it('gives a repeated key both values', () => {
    expect(parseContext('k=1\nk=2')).toEqual({ kind: 'read', values: { k: ['1', '2'] } });
  });

  it('names an invalid line', () => {
    expect(parseContext('aws:SourceIp')).toMatchObject({ kind: 'wrong', message: /“aws:SourceIp”/ });
    expect(parseContext('=x')).toMatchObject({ kind: 'wrong' });
  });
});
