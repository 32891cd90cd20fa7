import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { candidatesOf } from './candidates.ts';

const program = new Command('coffer').option('--json', 'x').option('-C, --config-dir <folder>', 'x');
program.command('ls').option('-r, --recursive', 'x').option('--sc, --storage-class <class>', 'x');
program.command('legalhold').command('set');
program.commands[1]?.command('info').alias('show');

describe('after the words', () => {
  it.each([
    [['l'], ['ls', 'legalhold'], false],
    [[''], ['ls', 'legalhold'], false],
    [['legalhold', ''], ['set', 'info'], false],
    [['legalhold', 'show', ''], [], true],
    [['ls', ''], [], true],
    [['ls', '--re'], ['--recursive'], false],
    [['ls', '--'], ['--recursive', '--storage-class', '--json', '--config-dir', '--help'], false],
    [['ls', '--storage-class', ''], [], true],
    [['--config-dir', 'x', 'l'], ['ls', 'legalhold'], false],
    [['--config-dir=x', 'l'], ['ls', 'legalhold'], false],
    [['--json', 'ls', 's/'], [], true],
  ])('%j', (words, expected, places) => {
    expect(candidatesOf(program, words)).toEqual({ words: expected, places });
  });
});
