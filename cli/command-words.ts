import type { Command } from 'commander';
import { ProgramError } from '../platform/errors/program-error.ts';
import { presentWords, type PresentWords } from './commands/old-names.ts';
import { closestName } from './config/closest-name.ts';

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

/**
 * Checks that a command line which asks for help names a command. Commander would print the help of the group instead, with the exit code 0.
 *
 * @throws ProgramError BadArgument
 */
export function requireHelpedCommand(program: Command, words: readonly string[]): void {
  const end = words.indexOf('--');
  const options = end < 0 ? words : words.slice(0, end);
  if (!options.includes('--help') && !options.includes('-h')) return;
  const group = commandOf(program, options);
  if (group.commands.length === 0 || group.registeredArguments.length > 0) return;
  const isWord = (word: string, at: number) => !word.startsWith('-') && !isValueAfter(options[at - 1]);
  const named = options.filter(isWord);
  let depth = 0;
  for (let one = group; one.parent !== null; one = one.parent) depth += 1;
  const unknown = named[depth];
  // Commander has a command `help` in each group.
  if (unknown === undefined || unknown === 'help') return;
  const closest = closestName(
    unknown,
    group.commands.map((one) => one.name()),
  );
  const hint = closest === undefined ? '' : ` (did you mean \`${closest}\`?)`;
  throw new ProgramError(
    'BadArgument',
    `Unknown command \`${unknown}\`${hint}; see \`${helpWords(program, words)} --help\``,
  );
}

/** Returns the words that lead to the help of a command line: `coffer admin user`. */
export function helpWords(program: Command, words: readonly string[]): string {
  const path: string[] = [];
  for (let one: Command | null = commandOf(program, words); one !== null; one = one.parent) path.unshift(one.name());
  return path.join(' ');
}
