import type { Argument, Command, Option } from 'commander';
import { examplesOf } from '../command-group.ts';
import { topics } from './topics.ts';

/** Commands with pages of their own; all others are on the page of the program. */
const ownPages = ['admin', 'idp'];

/** Returns the pages of the manual by the names of their files, in the form of man(7): the same table as the help of the program. */
export function manualPages(program: Command, version: string): ReadonlyMap<string, string> {
  const pages = new Map<string, string>();
  const rest = program.commands.filter((command) => !ownPages.includes(command.name()));
  const seeAlso = [...ownPages.map((name) => `coffer-${name}(1)`), 'coffer-topics(7)'].join(', ');
  pages.set(
    'coffer.1',
    page('coffer', 1, version, program.description(), [
      section('SYNOPSIS', `.B coffer\n[OPTIONS] COMMAND [ARGUMENTS]`),
      section('OPTIONS', program.options.map(optionText).join('\n')),
      section('COMMANDS', rest.flatMap(leaves).map(commandText).join('\n')),
      section('SEE ALSO', roff(seeAlso)),
    ]),
  );
  for (const command of program.commands.filter((one) => ownPages.includes(one.name()))) {
    const title = `coffer-${command.name()}`;
    pages.set(
      `${title}.1`,
      page(title, 1, version, command.description(), [
        section('SYNOPSIS', `.B coffer ${command.name()}\nCOMMAND [OPTIONS] [ARGUMENTS]`),
        section('COMMANDS', leaves(command).map(commandText).join('\n')),
        section('SEE ALSO', 'coffer(1)'),
      ]),
    );
  }
  const texts = Object.entries(topics).map(([name, topic]) =>
    section(`${name}: ${topic.title}`.toUpperCase(), literal(topic.text.trim())),
  );
  pages.set('coffer-topics.7', page('coffer-topics', 7, version, 'topics of the client of Coffer', texts));
  return pages;
}

function page(title: string, part: number, version: string, summary: string, sections: readonly string[]): string {
  const head = `.TH ${title.toUpperCase()} ${part} "" "coffer ${version}"`;
  return `${[head, section('NAME', roff(`${title} \\- ${summary}`, true)), ...sections].join('\n')}\n`;
}

function section(title: string, text: string): string {
  return `.SH "${title.replaceAll('"', '')}"\n${text}`;
}

/** The commands that do something, below a command or itself. */
function leaves(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
}

function commandText(command: Command): string {
  const words = [command.name()];
  for (let parent = command.parent; parent !== null; parent = parent.parent) words.unshift(parent.name());
  const args = command.registeredArguments.map(argumentText).join(' ');
  const options = command.options.length === 0 ? [] : ['.RS', ...command.options.map(optionText), '.RE'];
  const examples = (examplesOf.get(command) ?? '').replace(/^\nExamples:\n/, '');
  return [
    `.SS "${roff(words.join(' '))}${args === '' ? '' : ` ${roff(args)}`}"`,
    roff(command.description()),
    ...options,
    ...(examples === '' ? [] : [literal(examples)]),
  ].join('\n');
}

function argumentText(argument: Argument): string {
  const name = `${argument.name().toUpperCase()}${argument.variadic ? '...' : ''}`;
  return argument.required ? name : `[${name}]`;
}

function optionText({ flags, description }: Option): string {
  return `.TP\n.B "${roff(flags)}"\n${roff(description)}`;
}

function literal(text: string): string {
  return `.PP\n.nf\n${roff(text)}\n.fi`;
}

/** Escapes text: a back-slash, a hyphen that must stay one, and a dot or quote that would begin a request. */
function roff(text: string, escaped = false): string {
  const safe = escaped ? text : text.replaceAll('\\', String.raw`\e`).replaceAll('-', String.raw`\-`);
  return safe.replaceAll(/^(?=[.'])/gm, String.raw`\&`).replaceAll('"', String.raw`\(dq`);
}
