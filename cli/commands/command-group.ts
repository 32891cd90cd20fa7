import { type Command, Option } from 'commander';
import type { Context } from './context.ts';
import { isQuietable } from './quiet-commands.ts';

/** The groups whose commands are defined when a command line names them, and their descriptions. */
export const laterGroups = {
  ilm: 'lifecycle rules and tiers of buckets',
  event: 'events of buckets',
  replicate: 'replication of buckets',
  batch: 'jobs over many objects',
  support: 'what a server does and how fast it is',
  license: 'license of a server',
  admin: 'administer servers',
  idp: 'identity providers',
} as const;

/** One thing that a command does. `doing` completes "Unable to …". */
export interface Task {
  readonly doing: string;
  /** The arguments that an error names. */
  readonly subjects: readonly string[];
  /** The word between two subjects. */
  readonly joint: string | undefined;
  readonly work: (context: Context) => Promise<void>;
}

function subjectsOf(args: readonly string[], subject: number, joint: string | undefined): readonly string[] {
  if (joint !== undefined) return args.slice(0, 2);
  return args.slice(args.at(subject) === undefined ? 0 : subject).slice(0, 1);
}

/** The way in which the output of a command is shown. */
export interface OutputStyle {
  /** Long output is shown by a pager. */
  readonly paged: boolean;
  /** The messages only say what was done, and `--quiet` leaves them out. */
  readonly quietable: boolean;
}

/** Runs the tasks of a command. With several tasks it reports a failure and continues, and fails at the end. */
export type Runner = (tasks: readonly Task[], style: OutputStyle) => Promise<void>;

/** The function behind a command. `args` are the given arguments; the values of a list follow each other. */
type CommandFunction<Options extends object = object> = (
  context: Context,
  args: readonly string[],
  options: Options,
) => Promise<void>;

/**
 * The flags of an option, and what it does. The values of a repeatable option are collected in an array. The help does not show a hidden one,
 * such as an older spelling.
 */
export type OptionDefinition = readonly [flags: string, description: string, kind?: 'repeatable' | 'hidden'];

/** The arguments of an example, with a remark where it needs one; or a line of another command, with `of`. */
export type Example =
  string | readonly [args: string, remark: string] | { readonly of: string; readonly remark: string };

/** One command: what its help says, and which function of the group's module it runs. */
interface CommandDefinition<Module, Options extends object> {
  readonly alias?: string;
  readonly description: string;
  /** The arguments for the help, where commander cannot express them. */
  readonly usage?: string;
  readonly options?: readonly OptionDefinition[];
  /** Old names of options with the present ones. They work, with a hint, and are not in the help. */
  readonly old?: Readonly<Record<string, string>>;
  readonly examples: readonly Example[];
  /** Completes "Unable to …". */
  readonly doing: string;
  /**
   * The index of the argument that an error names; negative from the end. The default is the second argument, or the only one. The argument
   * must not be a secret.
   */
  readonly subject?: number;
  /** The word between the first two arguments, where an error names both because it may be about each of them. */
  readonly joint?: string;
  /** Runs the function once for each argument. The command continues after a failure. */
  readonly each?: true;
  /** Its output may be longer than a screen, and is shown by a pager on a terminal. */
  readonly paged?: true;
  readonly run: (module: Module) => CommandFunction<Options>;
}

/** The commands `enable` and `disable`, in the order of `verbs`. */
interface SwitchDefinition<Module> {
  readonly args: string;
  readonly example: string;
  /** The object of "Unable to enable …". */
  readonly what: string;
  /** The description of each command. */
  readonly verbs: Readonly<Record<Verb, string>>;
  readonly run: (module: Module, verb: Verb) => CommandFunction;
}

type Verb = 'enable' | 'disable';

/** The examples in the help of a command. The manual shows them, too. */
export const examplesOf = new WeakMap<Command, string>();

/**
 * A group of commands, such as `coffer admin user`. Every command of the client is declared by `add`. The module with the functions is
 * imported when a command runs, so that a short command starts fast. Examples omit the words that lead to the command:
 *
 *     const groups = admin.group('group', 'groups of users').from(() => import('./groups.ts'));
 *     groups.add('info <alias> <group>', { …, examples: ['mine staff'], run: (module) => module.showGroup });
 */
export class CommandGroup<Module = undefined> {
  readonly #command: Command;
  readonly #runner: Runner;
  readonly #load: () => Promise<Module>;

  constructor(command: Command, runner: Runner, load: () => Promise<Module>) {
    this.#command = command;
    this.#runner = runner;
    this.#load = load;
  }

  /** Adds a group below this one. Without a command the client prints the help of the group. */
  group(name: string, description: string): CommandGroup<Module> {
    return new CommandGroup(this.#command.command(name).description(description), this.#runner, this.#load);
  }

  /** The same group with another module. */
  from<Other>(load: () => Promise<Other>): CommandGroup<Other> {
    return new CommandGroup(this.#command, this.#runner, load);
  }

  /** Adds a command; `nameAndArgs` is for example `info <alias> <group>`. */
  add<Options extends object>(nameAndArgs: string, definition: CommandDefinition<Module, Options>): void {
    const {
      alias,
      description,
      usage,
      options = [],
      old = {},
      examples,
      doing,
      subject = 1,
      joint,
      each = false,
      paged = false,
      run,
    } = definition;
    const path = `${pathOf(this.#command)}${nameAndArgs.split(' ', 1)[0]}`;
    const command = this.#command.command(nameAndArgs).description(description);
    const shown = exampleText(examples, path);
    examplesOf.set(command, shown);
    command.addHelpText('after', shown);
    if (alias !== undefined) command.alias(alias);
    if (usage !== undefined) command.usage(`[options] ${usage}`);
    for (const option of options) addOption(command, option);
    for (const [before, now] of Object.entries(old)) addOldName(command, before, now);
    command.action(async (...given: unknown[]) => {
      const args = given
        .slice(0, -2)
        .flat()
        .filter((one) => typeof one === 'string');
      const lists = each ? args.map((one) => [one]) : [args];
      const tasks = lists.map((list) => ({
        doing,
        subjects: subjectsOf(list, subject, joint),
        joint,
        work: async (context: Context) => run(await this.#load())(context, list, command.opts<Options>()),
      }));
      await this.#runner(tasks, { paged, quietable: isQuietable(path) });
    });
  }

  addSwitch({ args, example, what, verbs, run }: SwitchDefinition<Module>): void {
    for (const [verb, description] of Object.entries(verbs) as [Verb, string][]) {
      this.add(`${verb} ${args}`, {
        description,
        examples: [example],
        doing: `${verb} ${what}`,
        run: (module) => run(module, verb),
      });
    }
  }
}

/** The commands of the program itself. They have no module in common. */
export function commandsOf(program: Command, runner: Runner): CommandGroup {
  return new CommandGroup(program, runner, () => Promise.resolve(undefined));
}

function addOption(command: Command, [flags, description, kind]: OptionDefinition): void {
  const option = new Option(flags, description);
  if (kind === 'hidden') option.hideHelp();
  if (kind === 'repeatable')
    option.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value]);
  command.addOption(option);
}

function addOldName(command: Command, before: string, now: string): void {
  const option = new Option(before).hideHelp();
  command.addOption(option);
  command.on(`option:${option.name()}`, () => {
    command.configureOutput().writeErr?.(`coffer: <WARNING> \`${before}\` is an old name of \`${now}\`.\n`);
    command.setOptionValue(new Option(now).attributeName(), true);
  });
}

/** The words that lead to a command below this one, with a space at the end; empty for the program itself. */
function pathOf(command: Command): string {
  return command.parent === null ? '' : `${pathOf(command.parent)}${command.name()} `;
}

function exampleText(examples: readonly Example[], path: string): string {
  const shown = examples.map((example) => {
    const [line, remark] = lineOf(example, path);
    return [`  coffer ${line}`, remark] as const;
  });
  const width = Math.max(0, ...shown.map(([line]) => line.length));
  const lines = shown.map(([line, remark]) => (remark === '' ? line : `${line.padEnd(width)}   # ${remark}`));
  return lines.length === 0 ? '' : `\nExamples:\n${lines.join('\n')}`;
}

function lineOf(example: Example, path: string): readonly [line: string, remark: string] {
  if (typeof example === 'string') return [`${path} ${example}`, ''];
  if ('of' in example) return [example.of, example.remark];
  return [`${path} ${example[0]}`, example[1]];
}
