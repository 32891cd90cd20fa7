import { ProgramError } from '../program-error.ts';
import { describe, expect, it } from 'vitest';
import { setting } from '../../protocol/settings/table.ts';
import { parseEnvFile, SettingReader } from './setting-source.ts';

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

describe('a problem', () => {
  it.each([
    ['ftp://ann:hunter2@hooks.example/', /ENDPOINT is "ftp:\/\/ann:\[redacted\]@/],
    ['https://ann:hun/ter2@hooks.example/', /ENDPOINT is "https:\/\/ann:\[redacted\]@/],
  ])('names the value without its password: %s', (text, expected) => {
    const row = setting('SVC_NOTIFY_WEBHOOK_ENDPOINT');
    const reader = new SettingReader({ variables: new Map([[row.name, text]]), readFile: () => '' });
    reader.read(row);
    expect(reader.problems.join()).toMatch(expected);
    expect(reader.problems.join()).not.toMatch(/ter2/);
  });
});
