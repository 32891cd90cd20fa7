import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { flagWords } from './flag-words.ts';

function program(): Command {
  const root = new Command('coffer').option('--json').option('-C, --config-dir <folder>').option('--no-color');
  root
    .command('ls [targets...]')
    .option('-r, --recursive')
    .option('--vid, --version-id <id>')
    .option('-d, --depth <n>')
    .option('-v, --verbose');
  root.command('stat <target>').option('--no-list');
  return root;
}

const rewritten = (line: string): string => flagWords(program(), line.split(' ')).join(' ');

describe('flagWords', () => {
  it.each(['true', 'TRUE', 'True', 't', 'T', '1'])('takes a boolean flag with =%s as given', (value) => {
    expect(rewritten(`ls --recursive=${value} A/b`)).toBe('ls --recursive A/b');
    expect(rewritten(`ls -r=${value} A/b`)).toBe('ls --recursive A/b');
  });

  it.each(['false', 'FALSE', 'False', 'f', 'F', '0'])('takes a boolean flag with =%s as not given', (value) => {
    expect(rewritten(`ls --recursive=${value} A/b`)).toBe('ls A/b');
    expect(rewritten(`ls -r=${value} A/b`)).toBe('ls A/b');
  });

  it.each(['yes', '', 'tRUE', 'no', '2'])('refuses a boolean flag with =%s by its name', (value) => {
    expect(() => rewritten(`ls --recursive=${value} A/b`)).toThrow(
      `Invalid value \`${value}\` of --recursive: it is true or false; see \`coffer ls --help\``,
    );
  });

  it('lets the last of several values win', () => {
    expect(rewritten('ls --recursive --recursive=false A/b')).toBe('ls A/b');
    expect(rewritten('ls -r=false -r A/b')).toBe('ls -r A/b');
    expect(rewritten('ls -r -v --recursive=0 -v=false A/b')).toBe('ls A/b');
  });

  it('takes the flags of the program before and after the command', () => {
    expect(rewritten('--json=true ls A/b --json=false')).toBe('ls A/b');
    expect(rewritten('--no-color=true ls A/b')).toBe('--no-color ls A/b');
  });

  it('takes a flag whose name begins with no', () => {
    expect(rewritten('stat --no-list=true A/b')).toBe('stat --no-list A/b');
    expect(rewritten('stat --no-list=false A/b')).toBe('stat A/b');
  });

  it('takes the help with a value', () => {
    expect(rewritten('ls --help=true')).toBe('ls --help');
    expect(rewritten('ls -h=false A/b')).toBe('ls A/b');
  });

  it('takes a long flag with one hyphen', () => {
    expect(rewritten('-json ls -recursive A/b -vid x')).toBe('--json ls --recursive A/b --vid x');
    expect(rewritten('ls -recursive=false -version-id=x A/b')).toBe('ls --version-id=x A/b');
  });

  it('takes the value of a short flag after an equals sign', () => {
    expect(rewritten('-C=/etc ls -d=2 A/b')).toBe('--config-dir=/etc ls --depth=2 A/b');
  });

  it('leaves short flags in one word, values, arguments and what follows -- as they are', () => {
    for (const line of [
      'ls -rv A/b',
      'ls -d2 A/b',
      'ls --vid -json A/b',
      'ls --depth --recursive=no A/b',
      'ls A/b=true',
      'ls -dash.txt --unknown=true -x=1',
      'ls -- --recursive=true -json',
      'ls -',
    ])
      expect(rewritten(line)).toBe(line);
  });

  it('turns off a flag of the program that a variable of the environment turns on', () => {
    const root = program();
    flagWords(root, ['ls', '--json=false']);
    expect(root.opts()['json']).toBe(false);
  });
});
