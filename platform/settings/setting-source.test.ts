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

  it.each(['A=1\nB=pass\0word\n', 'A=1\n\0\0\0\0', 'A=1\n# \0'])(
    'refuses the NUL bytes that a damaged file has: %j',
    (text) => {
      expect(() => parse(text)).toThrow(
        new ProgramError('settings', 'coffer.env, line 2: a NUL byte: the file is damaged, or it is not UTF-8'),
      );
    },
  );

  it('names the variable whose quote is not closed', () => {
    expect(() => parse('A="abc')).toThrow('coffer.env, line 1, A: the " that opens the value is not closed');
  });
});

const readSecret = (text: string) => {
  const reader = new SettingReader({
    variables: new Map([['SVC_ROOT_PASSWORD_FILE', '/run/secret']]),
    readFile: () => text,
  });
  return { value: reader.read(setting('SVC_ROOT_PASSWORD')), problems: reader.problems };
};

describe('a secret in a file', () => {
  it.each(['root-password', 'root-password\n', 'root-password\r\n', '\uFEFFroot-password\r\n'])('is %j', (text) => {
    expect(readSecret(text)).toEqual({ value: 'root-password', problems: [] });
  });

  it('is refused with a NUL byte', () => {
    expect(readSecret('root-\0password')).toEqual({
      value: undefined,
      problems: [
        'SVC_ROOT_PASSWORD_FILE names /run/secret, which cannot be read: a NUL byte: the file is damaged, or it is not UTF-8',
      ],
    });
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
