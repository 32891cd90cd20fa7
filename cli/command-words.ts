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
 * @throws CliError BadArgument for a command that there is not, with the reason
 */
export function commandWords(argv: readonly string[]): PresentWords {
  const isCommand = (word: string, at: number) => !word.startsWith('-') && !withValue.has(argv[at - 1] ?? '');
  const first = argv.findIndex(isCommand);
  const words = argv.map((word, at) => {
    if (word === '--JSON') return '--json';
    // After the name of a command `-v` is not the version, as in `admin trace -v`.
    return word === '-v' && first >= 0 && at > first ? '--verbose' : word;
  });
  return presentWords(words, isCommand);
}

/** Returns the words that lead to the help of a command line: `coffer admin user`. */
export function helpWords(program: Command, words: readonly string[]): string {
  let command = program;
  const path = ['coffer'];
  for (const [at, word] of words.entries()) {
    if (word.startsWith('-') || withValue.has(words[at - 1] ?? '')) continue;
    const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (next === undefined) break;
    command = next;
    path.push(next.name());
  }
  return path.join(' ');
}
