import type { Command } from 'commander';

/** The candidates that may follow the words of a command line. */
interface Candidates {
  /** Commands, flags and topics. */
  readonly words: readonly string[];
  /** The last word may also be a place: `ALIAS/bucket/key` or a path. */
  readonly places: boolean;
}

/** Finds the candidates for the last word, which may be empty, among the commands and flags of a program. */
export function candidatesOf(program: Command, words: readonly string[]): Candidates {
  const last = words.at(-1) ?? '';
  let command = program;
  let skip = false;
  for (const word of words.slice(0, -1)) {
    if (skip) skip = false;
    else if (word.startsWith('-')) skip = takesValue([...command.options, ...program.options], word);
    else command = subcommand(command, word) ?? command;
  }
  // A value of a flag is nothing that the table knows; it may be a path.
  if (skip) return { words: [], places: true };
  if (last.startsWith('-')) {
    const flags = [...command.options, ...program.options].filter(({ hidden }) => !hidden);
    const names = flags.flatMap(({ long }) => long ?? []);
    return { words: [...new Set(names), '--help'].filter((name) => name.startsWith(last)), places: false };
  }
  const names = command.commands.map((one) => one.name()).filter((name) => name.startsWith(last));
  return { words: names, places: command.commands.length === 0 };
}

function subcommand(command: Command, word: string): Command | undefined {
  return command.commands.find((one) => one.name() === word || one.aliases().includes(word));
}

/** Reports whether the next word is the value of a flag. */
function takesValue(options: Command['options'], word: string): boolean {
  if (word.includes('=')) return false;
  const option = options.find(({ long, short }) => long === word || short === word);
  return option !== undefined && (option.required || option.optional);
}
