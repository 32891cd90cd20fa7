import type { Command } from 'commander';
import { presentWords, type PresentWords } from './commands/old-names.ts';

/** The options of the program that have a value. */
const withValue = new Set([
  '-C',
  '--config-dir',
  '-H',
  '--custom-header',
  '--resolve',
  '--limit-upload',
  '--limit-download',
]);

/**
 * Returns the words of a command line as this release spells them.
 *
 * @throws ProgramError BadArgument for a command that there is not, with the reason
 */
export function commandWords(argv: readonly string[]): PresentWords {
  const isCommand = (word: string, at: number) => !word.startsWith('-') && !isValueAfter(argv[at - 1]);
  const first = argv.findIndex(isCommand);
  const words = argv.map((word, at) => {
    if (/^--?JSON(?:=|$)/.test(word)) return word.replace('JSON', 'json');
    // After the name of a command `-v` is not the version, as in `admin trace -v`.
    return word === '-v' && first >= 0 && at > first ? '--verbose' : word;
  });
  return presentWords(words, isCommand);
}

/** Reports whether the word after this one is the value of an option of the program. Long options may have one hyphen. */
function isValueAfter(word = ''): boolean {
  return withValue.has(word) || withValue.has(`-${word}`);
}

/** Returns the command that a command line names, or the program itself. */
export function commandOf(program: Command, words: readonly string[]): Command {
  let command = program;
  for (const [at, word] of words.entries()) {
    if (word.startsWith('-') || isValueAfter(words[at - 1])) continue;
    const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (next === undefined) break;
    command = next;
  }
  return command;
}

/** Returns the words that lead to the help of a command line: `coffer admin user`. */
export function helpWords(program: Command, words: readonly string[]): string {
  const path: string[] = [];
  for (let one: Command | null = commandOf(program, words); one !== null; one = one.parent) path.unshift(one.name());
  return path.join(' ');
}
