import type { Command } from 'commander';
import type { Context } from './context.ts';

/** The groups of commands for administrators. */
export const administration = {
  admin: 'administer servers',
  idp: 'identity providers',
} as const;

/** Runs the work of a command; `description` completes "Unable to …". */
export type Runner = (
  work: (context: Context) => Promise<void>,
  description: string,
  args: readonly string[],
) => Promise<void>;

/** One command: what it takes, what its help says, and what it does. */
interface CommandDefinition<Options extends object = object> {
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
function define<Options extends object>(
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

/** What a command does with the arguments that were given, lists laid out one after the other. */
type Work<Options extends object = object> = (
  context: Context,
  args: readonly string[],
  options: Options,
) => Promise<void>;

/**
 * A command line as an example: what stands behind the command itself, with a remark where it needs one; or a line of another command,
 * with `of`.
 */
export type Example =
  string | readonly [args: string, remark: string] | { readonly of: string; readonly remark: string };

/** A command of a group; `run` picks its work out of the code of the group. */
interface Declaration<Code, Options extends object> extends Omit<
  CommandDefinition<Options>,
  'usage' | 'examples' | 'run'
> {
  readonly examples: readonly Example[];
  readonly run: (code: Code) => Work<Options>;
}

/** `enable` and `disable`, in the order of `verbs`, which says of each what it does. */
interface Switch<Code> {
  readonly args: string;
  readonly example: string;
  /** What is switched, as in "Unable to enable …". */
  readonly what: string;
  readonly verbs: Readonly<Record<Verb, string>>;
  readonly run: (code: Code, verb: Verb) => Work;
}

type Verb = 'enable' | 'disable';

/**
 * The commands below a word of the command line, declared by what they take, say and do. Their code is imported when one of them runs, so
 * that a short command starts fast, and examples are written without the words that lead to the command:
 *
 *     const groups = admin.group('group', 'groups of users').from(() => import('./groups.ts'));
 *     groups.add('info <alias> <group>', { …, examples: ['mine staff'], run: (code) => code.showGroup });
 */
export class CommandGroup<Code = undefined> {
  readonly #command: Command;
  readonly #runner: Runner;
  readonly #code: () => Promise<Code>;

  constructor(command: Command, runner: Runner, code: () => Promise<Code>) {
    this.#command = command;
    this.#runner = runner;
    this.#code = code;
  }

  /** A group below this one, with the same code. */
  group(name: string, description: string): CommandGroup<Code> {
    return new CommandGroup(group(this.#command, name, description), this.#runner, this.#code);
  }

  /** The same group, for commands whose work is elsewhere. */
  from<Other>(code: () => Promise<Other>): CommandGroup<Other> {
    return new CommandGroup(this.#command, this.#runner, code);
  }

  /** `usage`: `info <alias> <group>`. */
  add<Options extends object>(usage: string, declaration: Declaration<Code, Options>): void {
    const { examples, run, ...shown } = declaration;
    const path = `${pathOf(this.#command)}${usage.split(' ', 1)[0]}`;
    define<Options>(this.#command, this.#runner, {
      ...shown,
      usage,
      examples: examples.map((example) => lineOf(example, path)),
      run: async (context, args, options) => run(await this.#code())(context, args, options),
    });
  }

  addSwitch({ args, example, what, verbs, run }: Switch<Code>): void {
    for (const [verb, description] of Object.entries(verbs) as [Verb, string][]) {
      this.add(`${verb} ${args}`, {
        description,
        examples: [example],
        doing: `${verb} ${what}`,
        run: (code) => run(code, verb),
      });
    }
  }
}

/** The commands of the program itself, which have no code in common. */
export function commandsOf(program: Command, runner: Runner): CommandGroup {
  return new CommandGroup(program, runner, () => Promise.resolve(undefined));
}

/** The words that lead to what is below a command, with a space at the end; none for the program itself. */
function pathOf(command: Command): string {
  return command.parent === null ? '' : `${pathOf(command.parent)}${command.name()} `;
}

function lineOf(example: Example, path: string): readonly [line: string, remark: string] {
  if (typeof example === 'string') return [`${path} ${example}`, ''];
  if ('of' in example) return [example.of, example.remark];
  return [`${path} ${example[0]}`, example[1]];
}
