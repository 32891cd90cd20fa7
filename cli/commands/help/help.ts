import type { Command } from 'commander';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { closestName } from '../../config/closest-name.ts';
import { topics, type Topic } from './topics.ts';

const pages: Readonly<Record<string, Topic>> = topics;

/**
 * Finds the command (`admin user add`) whose help is wanted, or returns the page of a topic. Without words it is the program.
 *
 * @throws ProgramError BadArgument for words that mean neither
 */
export function helpFor(program: Command, words: readonly string[]): Command | string {
  const [first = ''] = words;
  let command = program;
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (next === undefined) {
      const topic = words.length === 1 && Object.hasOwn(pages, first) ? pages[first] : undefined;
      if (topic !== undefined) return `${first}: ${topic.title}\n${topic.text}`;
      throw unknown(command, word);
    }
    command = next;
  }
  return command;
}

function unknown(command: Command, word: string): ProgramError {
  const names = [...command.commands.map((one) => one.name()), ...(command.parent === null ? Object.keys(topics) : [])];
  const closest = closestName(word, names);
  const hint = closest === undefined ? '; see `coffer --help`' : ` (did you mean \`${closest}\`?)`;
  return new ProgramError('BadArgument', `There is no command or topic \`${word}\`${hint}`);
}
