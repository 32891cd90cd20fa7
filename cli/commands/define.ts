import type { Command } from 'commander';
import type { Context } from '../context.ts';

/** Runs the work of a command; `description` completes "Unable to …". */
export type Runner = (
  work: (context: Context) => Promise<void>,
  description: string,
  args: readonly string[],
) => Promise<void>;

/** One command: what it takes, what its help says, and what it does. */
export interface CommandDefinition<Options extends object = object> {
  /** `add <alias> [accessKey]`. */
  readonly usage: string;
  readonly alias?: string;
  readonly description: string;
  /** Flags and what they mean; a third is called once for each time the flag is given. */
  readonly options?: readonly OptionDefinition[];
  /** Command lines without the name of the program, each with a remark or ''. */
  readonly examples: readonly (readonly [line: string, remark: string])[];
  /** Completes "Unable to …". */
  readonly doing: string;
  /** Which argument a failure names: the second, or the first where there is one only. None holds a secret. */
  readonly subject?: number;
  /** `args` are those given, lists laid out one after the other. */
  readonly run: (context: Context, args: readonly string[], options: Options) => Promise<void>;
}

export type OptionDefinition = readonly [flags: string, description: string, repeatable?: 'repeatable'];

/** Adds a command. Its code is to be imported by `run`, so that a short command starts fast. */
export function define<Options extends object>(
  parent: Command,
  runner: Runner,
  definition: CommandDefinition<Options>,
): Command {
  const { usage, alias, description, options = [], examples, doing, subject, run } = definition;
  const command = parent.command(usage).description(description).addHelpText('after', exampleText(examples));
  if (alias !== undefined) command.alias(alias);
  for (const [flags, meaning, repeatable] of options) {
    if (repeatable === undefined) command.option(flags, meaning);
    else command.option(flags, meaning, (value: string, before: string[] | undefined) => [...(before ?? []), value]);
  }
  return command.action(async (...given: unknown[]) => {
    const args = given
      .slice(0, -2)
      .flat()
      .filter((one) => typeof one === 'string');
    const named = args[subject ?? 1] ?? args[0];
    await runner((context) => run(context, args, command.opts<Options>()), doing, named === undefined ? [] : [named]);
  });
}

/** A group of commands, which shows their list when none is named. */
export function group(parent: Command, name: string, description: string): Command {
  return parent.command(name).description(description);
}

function exampleText(examples: CommandDefinition['examples']): string {
  const lines = examples.map(([line]) => `  coffer ${line}`);
  const width = Math.max(0, ...lines.map((line) => line.length));
  const shown = examples.map(([, remark], at) => {
    const line = lines[at] ?? '';
    return remark === '' ? line : `${line.padEnd(width)}   # ${remark}`;
  });
  return shown.length === 0 ? '' : `\nExamples:\n${shown.join('\n')}`;
}
