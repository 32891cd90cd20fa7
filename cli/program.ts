import { Writable } from 'node:stream';
import { Command, CommanderError } from 'commander';
import { commandWords, helpWords, requireHelpedCommand } from './command-words.ts';
import { flagWords } from './flag-words.ts';
import { ProgramError } from '../platform/errors/program-error.ts';
import { ResponseError } from '../protocol/response-error.ts';
import { readingOfKeys } from './config/aliases.ts';
import { settingVariables } from '../platform/settings/setting-variables.ts';
import { topicNames } from './commands/help/topic-names.ts';
import {
  type CommandGroup,
  commandsOf,
  laterGroups,
  type OutputStyle,
  type Runner,
  type Task,
} from './commands/command-group.ts';
import { addAliasCommands } from './commands/aliases/alias-commands.ts';
import { addDataCommands } from './commands/data/data-commands.ts';
import { addProgramCommands } from './commands/program-commands.ts';
import { Context, isSet, type GlobalOptions } from './commands/context.ts';
import { paintFor } from './terminal/colors.ts';
import type { Io } from './terminal/io.ts';
import { Output } from './terminal/output.ts';
import { readVersion } from './version.ts';

/** Runs one command line and returns its exit code: 0, 1 for a failure, 130 after an interruption. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  if (argv[0] === '__complete') return complete(argv.slice(1), io);
  let program: Command | undefined;
  let words = argv;
  // A command that waits for its input ends at once, and takes the end of the input for no end of the data.
  const endInput = (): void => void io.stdin.once('error', () => undefined).destroy(new Error('interrupted'));
  io.signal.addEventListener('abort', endInput, { once: true });
  try {
    io = { ...io, env: settingVariables(io.env, { prefixes: ['COFFER_', 'MC_'], secrets: ['COFFER_SECRET_KEY'] }) };
    const present = commandWords(argv);
    const { hint } = present;
    words = present.words;
    if (hint !== undefined && !words.includes('--quiet') && !words.includes('-q'))
      io.stderr.write(`coffer: <WARNING> \`${hint.was}\` is an old name of \`${hint.now}\`.\n`);
    program = await buildProgram(io, words);
    words = flagWords(program, words);
    requireHelpedCommand(program, words);
    await program.parseAsync(words, { from: 'user' });
    return 0;
  } catch (error) {
    return fail(error, io, isJson(words, io), program === undefined ? 'coffer' : helpWords(program, words));
  } finally {
    io.signal.removeEventListener('abort', endInput);
  }
}

/** Reports whether a failure is to be printed as JSON, also where the command line could not be read. */
function isJson(words: readonly string[], { env }: Io): boolean {
  const given = words.findLast((word) => /^--?json(?:=|$)/i.test(word));
  return given === undefined ? isSet(env['MC_JSON']) : !/=(0|f|false)$/i.test(given);
}

/** Prints what may follow the words after `--`, one on each line. It is called by the scripts of the command `completion`. */
async function complete(argv: readonly string[], io: Io): Promise<number> {
  const words = argv[0] === '--' ? argv.slice(1) : argv;
  const [{ candidatesOf }, { placesOf }] = await Promise.all([
    import('./commands/completion/candidates.ts'),
    import('./commands/completion/places.ts'),
  ]);
  const candidates = candidatesOf(await buildProgram(io, words), words);
  const option = words.findIndex((word) => word === '--config-dir' || word === '-C');
  const signal = AbortSignal.any([io.signal, AbortSignal.timeout(completionMs)]);
  // A shell is typing: nothing is said of a server that does not answer.
  const stderr = new Writable({ write: (_chunk, _encoding, done) => done() });
  const context = new Context({ ...io, stderr, signal }, { configDir: option < 0 ? undefined : words[option + 1] });
  const places = candidates.places ? await placesOf(context, words.at(-1) ?? '') : [];
  context.close();
  const lines = [...candidates.words, ...places].filter((line) => !line.includes('\n'));
  io.stdout.write(lines.map((line) => `${line}\n`).join(''));
  return 0;
}

/** Milliseconds. A person at a terminal waits no longer for a server. */
const completionMs = 2_000;

/** `command` has the help for a wrong use. */
function fail(error: unknown, io: Io, json: boolean, command: string): number {
  if (io.signal.aborted) return 130;
  const output = new Output(io, { json });
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    // Without a command commander prints the help.
    if (error.code === 'commander.help') return 0;
    output.error(new ProgramError('BadArgument', `${sentence(error.message)}; see \`${command} --help\``), 'fatal');
    return 1;
  }
  if (!isReported(error)) output.error(error, 'fatal');
  return (error instanceof ProgramError ? error.exitCode : undefined) ?? 1;
}

/** Commander writes `error: missing required argument 'x'`. */
function sentence(text: string): string {
  const bare = text.replace(/^error: /, '').replaceAll('\n', ' ');
  return `${bare.charAt(0).toUpperCase()}${bare.slice(1).replace(/\.$/, '')}`;
}

/** Returns the program with all commands, and its version, for the manual. */
export async function wholeProgram(): Promise<{ readonly program: Command; readonly version: string }> {
  const { stdin, stdout, stderr } = process;
  const io: Io = { stdin, stdout, stderr, env: {}, signal: new AbortController().signal };
  return { program: await buildProgram(io, Object.keys(laterGroups)), version: readVersion() };
}

async function buildProgram(io: Io, words: readonly string[]): Promise<Command> {
  const paint = paintFor(io.stdout, io.env, !words.includes('--no-color'));
  const program = new Command('coffer')
    .description('Client for Coffer and other S3-compatible object stores')
    .version(`coffer ${readVersion()}`, '-v, --version')
    .option(
      '-C, --config-dir <folder>',
      'folder of config.json and certs (or COFFER_CONFIG_DIR, MC_CONFIG_DIR; ~/.coffer)',
    )
    .option('-q, --quiet', 'print only errors, and the data that a command is asked for')
    .option('--json', 'print one line of JSON for each message, errors included')
    .option('--debug', 'show requests and responses, without secrets')
    .option('--insecure', 'do not check TLS certificates')
    .option('--no-color', 'print without colors (or NO_COLOR)')
    .option('--dp, --disable-pager', 'print long output without a pager (or MC_DISABLE_PAGER)')
    .option('-H, --custom-header <header>', 'send NAME:VALUE with each request; may be repeated', collect)
    .option('--limit-upload <rate>', 'send at most this many bytes per second: 10MiB (or MC_LIMIT_UPLOAD)')
    .option('--limit-download <rate>', 'receive at most this many bytes per second: 10MiB (or MC_LIMIT_DOWNLOAD)')
    .option('--resolve <address>', 'use HOST[:PORT]=IP instead of the name service; may be repeated', collect)
    .configureHelp({ styleTitle: (title) => paint('title', title) })
    .addHelpText('after', `\nTopics (coffer help TOPIC): ${topicNames.join(', ')}`)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      // `fail` prints the errors. Help for a wrong command goes to standard error.
      writeErr: (text) => (text.startsWith('error:') ? undefined : io.stderr.write(text)),
    });
  const runner: Runner = async (tasks, style) => runTasks(io, program.opts<GlobalOptions>(), tasks, style);
  program
    .helpCommand(false)
    .command('help [words...]')
    .description('show the help of a command, or a page of a topic')
    .action(async (given: readonly string[]) => {
      const { helpFor } = await import('./commands/help/help.ts');
      // The commands for administrators are defined when one of the words names them.
      const found = helpFor(program, given);
      if (typeof found === 'string') io.stdout.write(`${found}\n`);
      else found.outputHelp();
    });
  const commands = commandsOf(program, runner);
  addAliasCommands(commands);
  addDataCommands(commands);
  addProgramCommands(commands);
  await addLaterCommands(commands, words);
  return program;
}

/** The modules that define the later groups. Defining those for administrators alone takes 13 ms. */
const laterModules: readonly {
  readonly groups: readonly (keyof typeof laterGroups)[];
  readonly load: () => Promise<(commands: CommandGroup) => void>;
}[] = [
  {
    groups: ['ilm'],
    load: async () => (await import('./commands/lifecycle/lifecycle-commands.ts')).addLifecycleCommands,
  },
  { groups: ['event'], load: async () => (await import('./commands/events/event-commands.ts')).addEventCommands },
  {
    groups: ['replicate'],
    load: async () => (await import('./commands/replication/replicate-commands.ts')).addReplicateCommands,
  },
  {
    groups: ['batch', 'support', 'license'],
    load: async () => (await import('./commands/support/support-commands.ts')).addSupportCommands,
  },
  { groups: ['admin'], load: async () => (await import('./commands/admin/admin-commands.ts')).addAdminCommands },
  { groups: ['idp'], load: async () => (await import('./commands/identities/idp-commands.ts')).addIdpCommands },
];

/** Defines the commands of the groups that the words name. The other groups are only listed. */
async function addLaterCommands(commands: CommandGroup, words: readonly string[]): Promise<void> {
  for (const { groups, load } of laterModules) {
    if (groups.some((group) => words.includes(group))) (await load())(commands);
    else for (const group of groups) commands.group(group, laterGroups[group]);
  }
}

async function runTasks(
  io: Io,
  options: GlobalOptions,
  tasks: readonly Task[],
  { paged, quietable }: OutputStyle,
): Promise<void> {
  const usePager =
    paged && io.stdout === process.stdout && process.stdout.isTTY && !options.json && !options.disablePager;
  const left = new AbortController();
  const pager = usePager
    ? await (await import('./terminal/pager.ts')).startPager(io.env, () => left.abort())
    : undefined;
  const signal = pager === undefined ? io.signal : AbortSignal.any([io.signal, left.signal]);
  const context = new Context({ ...io, signal }, options, { pager: pager?.input, quietable });
  let failed = 0;
  try {
    for (const task of tasks) {
      try {
        await task.work(context);
      } catch (error) {
        // The user has seen enough.
        if (left.signal.aborted && !io.signal.aborted) return;
        const explained = await explain(context, error, task);
        if (tasks.length === 1 || context.signal.aborted) throw explained;
        failed += 1;
        if (!isReported(explained)) context.output.error(explained, 'error');
      }
    }
  } finally {
    context.output.flush();
    await pager?.end();
    context.close();
  }
  if (failed > 0) throw new ProgramError('Reported', `${failed} of ${tasks.length} arguments failed`);
}

/** The command has already reported the failure. */
function isReported(error: unknown): boolean {
  return error instanceof ProgramError && error.code === 'Reported';
}

/** Names the failed action; the error of the server or the system becomes the cause. */
async function explain(context: Context, error: unknown, { doing, subjects, joint }: Task) {
  const { suggestName } = await import('./commands/suggest-name.ts');
  const meant = await suggestName(context, error, subjects);
  const hint = meant === undefined ? readingHint(context, error, subjects) : ` (did you mean \`${meant}\`?)`;
  if (error instanceof ProgramError) {
    if (meant === undefined) return error;
    return new ProgramError(error.code, `${error.message}${hint}`, { cause: error.cause, exitCode: error.exitCode });
  }
  const named = subjects.map((subject) => ` \`${subject}\``).join(` ${joint ?? ''}`);
  return new ProgramError('Failed', `Unable to ${doing}${named}${hint}`, { cause: error });
}

/** Returns how the keys in a variable of the environment were read, for a refused signature; empty where there is one reading. */
function readingHint({ io }: Context, error: unknown, subjects: readonly string[]): string {
  if (!(error instanceof ResponseError) || error.code !== 'SignatureDoesNotMatch') return '';
  const readings = subjects.map((subject) => readingOfKeys(subject.split('/', 1)[0] ?? '', io.env));
  const reading = readings.find((one) => one !== undefined);
  return reading === undefined ? '' : ` (${reading})`;
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
