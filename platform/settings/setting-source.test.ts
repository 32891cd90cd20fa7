import { ProgramError } from '../program-error.ts';
import { describe, expect, it } from 'vitest';
import { parseEnvFile } from './setting-source.ts';

const parse = (text: string) => Object.fromEntries(parseEnvFile(text, 'coffer.env'));

describe('parseEnvFile', () => {
  it.each([
    ['A=1', { A: '1' }],
    ['export A=1', { A: '1' }],
    ['# a comment\n\nA=1 # the rest\n', { A: '1' }],
    ['A="a b" # quoted', { A: 'a b' }],
    [String.raw`A="say \"hi\" \$HOME \\ \n"`, { A: String.raw`say "hi" $HOME \ \n` }],
    [String.raw`A='as $is \'`, { A: String.raw`as $is ` + '\\' }],
    ['A=p#ss=word', { A: 'p#ss=word' }],
    ['A=1\r\nA=2\r\n', { A: '2' }],
    ['\uFEFFA=', { A: '' }],
  ])('reads %j', (text, expected) => {
    expect(parse(text)).toEqual(expected);
  });

  it('names the line that is no assignment, not its value', () => {
    expect(() => parse('A=1\nsecret value')).toThrow(
      new ProgramError('settings', 'coffer.env, line 2: expected NAME=value'),
    );
  });

  it('names the variable whose quote is not closed', () => {
    expect(() => parse('A="abc')).toThrow('coffer.env, line 1, A: the " that opens the value is not closed');
  });
});
