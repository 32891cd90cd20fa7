import type { Command, Option } from 'commander';
import { beforeAll, expect, it } from 'vitest';
import { wholeProgram } from '../../cli/program.ts';
import { runCommand, tool } from '../support/process/run-command.ts';
import { absentCommands, absentFlags } from './absent-flags.ts';

/** The help of one command of stock mc. */
interface HelpPage {
  readonly words: readonly string[];
  /** The commands below it, each with its other names. */
  readonly commands: readonly (readonly string[])[];
  readonly flags: readonly { readonly names: readonly string[]; readonly hasValue: boolean }[];
}

let pages: readonly HelpPage[];
let program: Command;

beforeAll(async () => {
  program = (await wholeProgram()).program;
  pages = await pagesBelow([]);
}, 300_000);

async function pagesBelow(words: readonly string[]): Promise<readonly HelpPage[]> {
  const { stdout } = await runCommand(tool('bin/mc', 'mc'), [...words, '--help'], { env: { HOME: '/nonexistent' } });
  const page = { words, commands: commandsOf(stdout), flags: flagsOf(stdout) };
  const below: HelpPage[] = [page];
  for (const [name = ''] of page.commands) below.push(...(await pagesBelow([...words, name])));
  return below;
}

/** The indented lines below a title. */
function linesOf(help: string, title: string): readonly string[] {
  const [, section = ''] = new RegExp(`^${title}:\\n((?: .*\\n|\\n(?= ))*)`, 'm').exec(help) ?? [];
  return section.split('\n').filter((line) => /^ {2}\S/.test(line));
}

/** `  list, ls   lists …` */
function commandsOf(help: string): readonly (readonly string[])[] {
  const names = linesOf(help, 'COMMANDS').map((line) => (line.trim().split(/ {2,}|\t/, 1)[0] ?? '').split(', '));
  return names.filter(([name]) => name !== 'help');
}

/** `  --lines value, -n value   prints …` */
function flagsOf(help: string): HelpPage['flags'] {
  return ['FLAGS', 'GLOBAL FLAGS'].flatMap((title) =>
    linesOf(help, title).map((line) => {
      const [given = ''] = line.trim().split(/ {2,}|\t/, 1);
      const words = given.split(', ').map((one) => one.split(' '));
      return { names: words.map(([name = '']) => name), hasValue: words.some(([, value]) => value !== undefined) };
    }),
  );
}

/** Undefined for a command that `coffer` does not have. */
function commandAt(words: readonly string[]): Command | undefined {
  let command: Command | undefined = program;
  for (const word of words) {
    command = command?.commands.find((one) => one.name() === word || one.aliases().includes(word));
  }
  return command;
}

function optionAt(command: Command, name: string): Option | undefined {
  const known = [...command.options, ...program.options];
  return known.find(({ short, long }) => short === name || long === name);
}

const ofHelp = new Set(['--help', '-h']);

it('has every command that the help of stock mc shows, by each of its names', () => {
  const absent = pages.flatMap(({ words, commands }) =>
    commands
      .flat()
      .map((name) => [...words, name])
      .filter((path) => commandAt(path) === undefined)
      .map((path) => path.join(' ')),
  );
  expect(absent.toSorted()).toEqual(Object.keys(absentCommands).toSorted());
});

it('takes every flag that the help of stock mc shows, with a value where mc takes one', () => {
  const absent = pages.flatMap(({ words, flags }) => {
    const command = commandAt(words);
    if (command === undefined) return [];
    return flags.flatMap(({ names, hasValue }) =>
      names.flatMap((name) => {
        const option = optionAt(command, name);
        if (ofHelp.has(name) || (option !== undefined && (option.required || option.optional) === hasValue)) return [];
        return [[...words, option === undefined ? name : `${name} (${hasValue ? 'a' : 'no'} value)`].join(' ')];
      }),
    );
  });
  expect(absent.toSorted()).toEqual(Object.keys(absentFlags).toSorted());
});
