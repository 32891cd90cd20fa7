import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { CliError } from './config/cli-error.ts';
import type { Runner } from './commands/command-group.ts';
import { addCommands } from './commands/table.ts';
import { Context, type GlobalOptions } from './commands/context.ts';
import type { Io } from './terminal/io.ts';
import { Output } from './terminal/output.ts';

/** Runs one command line; answers its exit code: 0, 1 for any failure, 130 when it was interrupted. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const arguments_ = argv.map((argument) => (argument === '--JSON' ? '--json' : argument));
  try {
    const program = await buildProgram(io, arguments_);
    await program.parseAsync(arguments_, { from: 'user' });
    return 0;
  } catch (error) {
    return fail(error, io, arguments_.includes('--json'));
  }
}

function fail(error: unknown, io: Io, json: boolean): number {
  if (io.signal.aborted) return 130;
  const output = new Output(io, { json });
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    // Without a command there is only the help, which was asked for in a way.
    if (error.code === 'commander.help') return 1;
    output.error(new CliError('BadArgument', `${sentence(error.message)}; see \`coffer --help\``), 'fatal');
    return 1;
  }
  if (!(error instanceof CliError && error.code === 'Reported')) output.error(error, 'fatal');
  return 1;
}

/** Commander writes `error: missing required argument 'x'`. */
function sentence(text: string): string {
  const bare = text.replace(/^error: /, '').replaceAll('\n', ' ');
  return `${bare.charAt(0).toUpperCase()}${bare.slice(1).replace(/\.$/, '')}`;
}

async function buildProgram(io: Io, words: readonly string[]): Promise<Command> {
  const program = new Command('coffer')
    .description('Client for Coffer and other S3-compatible object stores')
    .version(`coffer ${readVersion()}`, '-v, --version')
    .option(
      '-C, --config-dir <folder>',
      'folder of config.json and certs (or COFFER_CONFIG_DIR, MC_CONFIG_DIR; ~/.coffer)',
    )
    .option('-q, --quiet', 'show no progress bar')
    .option('--json', 'print one line of JSON for each message, errors included')
    .option('--debug', 'show requests and responses, without secrets')
    .option('--insecure', 'do not check TLS certificates')
    .option('--no-color', 'print without colors')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      // What is wrong is printed by `fail`, in the form of all errors; help for a wrong command goes to standard error.
      writeErr: (text) => (text.startsWith('error:') ? undefined : io.stderr.write(text)),
    });
  const runner: Runner = async (work, description, args) => {
    const context = new Context(io, program.opts<GlobalOptions>());
    try {
      await work(context);
    } catch (error) {
      throw explain(error, description, args);
    } finally {
      context.close();
    }
  };
  await addCommands(program, runner, words);
  return program;
}

/** What a server or the system said becomes the cause of what could not be done. */
function explain(error: unknown, description: string, args: readonly string[]): unknown {
  if (error instanceof CliError) return error;
  const subject = args.at(-1);
  return new CliError('Failed', `Unable to ${description}${subject === undefined ? '' : ` \`${subject}\``}`, {
    cause: error,
  });
}

function readVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return version;
}
