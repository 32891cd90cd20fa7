import { ProgramError } from '../errors/program-error.ts';
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
  it.each(['root-password', 'root-password\n', 'root-password\r\n', 'root-password\n\n', '\uFEFFroot-password\r\n'])(
    'is %j',
    (text) => {
      expect(readSecret(text)).toEqual({ value: 'root-password', problems: [] });
    },
  );

  it('is refused with a NUL byte', () => {
    expect(readSecret('root-\0password')).toEqual({
      value: undefined,
      problems: [
        'SVC_ROOT_PASSWORD_FILE names /run/secret, which cannot be read: a NUL byte: the file is damaged, or it is not UTF-8',
      ],
    });
  });
});

const readVariable = (name: string, text: string) => {
  const reader = new SettingReader({ variables: new Map([[name, text]]), readFile: (path) => `from ${path}` });
  return { value: reader.read(setting(name.replace(/_FILE$/, ''))), problems: reader.problems };
};

describe('a variable of the environment', () => {
  it.each(['eu-west-1\r', 'eu-west-1\n', 'eu-west-1\r\n', ' eu-west-1 \t'])(
    'is read as a line of a file is, without its end and its blanks: %j',
    (text) => {
      expect(readVariable('SVC_REGION', text)).toEqual({ value: 'eu-west-1', problems: [] });
    },
  );

  it.each(['\r', '\r\n', '  '])('counts as not set where nothing else is in it: %j', (text) => {
    expect(readVariable('SVC_ROOT_PASSWORD', text)).toEqual({ value: undefined, problems: [] });
    expect(readVariable('SVC_REGION', text)).toEqual(readVariable('SVC_REGION', ''));
  });

  it('is missing where it is needed and only its end is there', () => {
    const reader = new SettingReader({ variables: new Map([['SVC_REGION', '\r']]), readFile: () => '' });
    reader.require(setting('SVC_REGION'), '', 'SVC_REGION is missing');
    expect(reader.problems).toEqual(['SVC_REGION is missing']);
  });

  it.each(['root-password\r', 'root-password\n', 'root-password\r\n'])('is a secret without its end: %j', (text) => {
    expect(readVariable('SVC_ROOT_PASSWORD', text)).toEqual({ value: 'root-password', problems: [] });
  });

  it('is the path of a secret without its end', () => {
    expect(readVariable('SVC_ROOT_PASSWORD_FILE', '/run/secret\r').value).toBe('from /run/secret');
  });

  it.each(['root-password ', ' root-password', 'root-password\t\r\n'])(
    'is refused by name where a secret has a blank at an end, and not shown: %j',
    (text) => {
      const problem = 'SVC_ROOT_PASSWORD begins or ends with a blank: remove it, or choose another secret';
      expect(readVariable('SVC_ROOT_PASSWORD', text)).toEqual({ value: undefined, problems: [problem] });
      expect(readSecret(text)).toEqual({ value: undefined, problems: [problem.replace('PASSWORD', 'PASSWORD_FILE')] });
    },
  );

  it('is refused by name where Node read bytes that are not UTF-8', () => {
    expect(readVariable('SVC_ROOT_PASSWORD', 'gr\uFFFDn')).toEqual({
      value: undefined,
      problems: ['SVC_ROOT_PASSWORD has bytes that are not UTF-8'],
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
