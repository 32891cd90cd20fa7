import { ProgramError } from '../../platform/errors/program-error.ts';
import { settingVariables } from '../../platform/settings/setting-variables.ts';
import { errorText, isOfFile } from '../../platform/errors/system-error.ts';
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { copyCommand, type CopyArguments } from './commands/copy.ts';
import { promoteCommand, type PromoteArguments } from './commands/promote.ts';
import { readOnlyCommand } from './commands/read-only.ts';
import { restoreCommand, snapshotCommand, type SnapshotArguments } from './commands/snapshot.ts';
import { verifyCommand, type VerifyArguments } from './commands/verify.ts';
import { type Io } from './report.ts';
import { MaintenanceError } from '../maintenance/maintenance-error.ts';
import { isStoreUnavailable } from '../store/store-error.ts';

/** Runs one command line. Returns the exit code: 0 clean, 1 findings or a failure, 2 an invalid command line. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  let code = 0;
  try {
    const env = settingVariables(io.env, { prefixes: ['COFFER_'], secrets: ['COFFER_SECRET_KEY'] });
    const program = buildProgram({ ...io, env }, (result) => (code = result));
    await program.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    return fail(error, io, argv.includes('--json'));
  }
}

/** Reports an error. Returns the exit code. */
export function fail(error: unknown, io: Io, json: boolean): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const message = explained(error, io);
  if (json) io.stdout.write(`${JSON.stringify({ type: 'error', message })}\n`);
  else io.stderr.write(`coffer-store: ${message}\n`);
  return error instanceof ProgramError && invocation.has(error.code) ? 2 : 1;
}

/** The codes of errors in what the caller wrote. */
const invocation: ReadonlySet<string> = new Set(['usage', 'settings', 'store-address']);

/** Errors whose message suffices for a user. Any other error is a defect and is shown with its stack. */
const expected = [ProgramError, MaintenanceError];

/** Returns the message of an error for the user; a defect is shown with its stack. */
export function explained(error: unknown, io: Pick<Io, 'signal'>): string {
  if (io.signal.aborted) return 'interrupted; run the same again, and it goes on where it can';
  if (!(error instanceof Error)) return String(error);
  // The disk, or the path that was given, and no defect.
  if (isOfFile(error)) return errorText(error);
  return isStoreUnavailable(error) || expected.some((kind) => error instanceof kind)
    ? error.message
    : (error.stack ?? error.message);
}

/** Makes the command line. Each command passes its exit code to `done`. */
export function buildProgram(io: Io, done: (code: number) => void): Command {
  const program = new Command('coffer-store')
    .description('Verifies, copies, and backs up what a Coffer server stores')
    .version(`coffer-store ${packageJson.version}`, '-v, --version')
    .configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: (text) => io.stderr.write(text) })
    .showHelpAfterError('See coffer-store --help.')
    .exitOverride()
    .addHelpText(
      'after',
      `
A store is named by its data folder, or by a file of settings as servers read it (SVC_STORE_RECORDS, SVC_STORE_BLOBS and their
companions). Passwords come from such a file, from SVC_…_FILE, or from the environment, never from arguments.

Exit codes: 0 nothing is wrong; 1 something was found, or it failed; 2 the command line cannot be.`,
    );
  const command = (name: string, description: string) =>
    program
      .command(name)
      .description(description)
      .option('--json', 'print one line of JSON for each finding and result')
      .copyInheritedSettings(program);

  withServer(command('verify', 'look for whatever is not as it was stored'))
    .argument('[store]', 'data folder or file of settings; the environment says it where absent')
    .option('--records <address>', 'postgres://USER@HOST/DATABASE or lmdb:FOLDER')
    .option('--blobs <address>', 's3://BUCKET/PREFIX or files:FOLDER')
    .option('--quick', 'see that bodies are there with their sizes, and do not read them')
    .addOption(new Option('--grace <seconds>', 'how long a blob may have no owner').argParser(wholeNumber))
    .action(async (store: string | undefined, options: VerifyArguments) =>
      done(await verifyCommand(store, options, io)),
    );
  command('copy', 'copy everything to other stores, verify the copy; goes on where it was interrupted')
    .argument('<from>', 'data folder or file of settings; stopped, or read-only')
    .argument('<to>', 'data folder or file of settings; empty')
    .option('--source-stopped', 'no server uses the source: nothing can tell that of a database')
    .addOption(new Option('--concurrency <objects>', 'objects at a time').argParser(wholeNumber))
    .action(async (from: string, to: string, options: CopyArguments) => done(await copyCommand(from, to, options, io)));
  withServer(command('snapshot', 'make a folder of what is stored at this moment'))
    .argument('<paths...>', 'DATA-FOLDER and the folder to make; with --server, a name below its folder of snapshots')
    .action(async (paths: string[], options: SnapshotArguments) => done(await snapshotCommand(paths, options, io)));
  command('restore', 'verify a snapshot and make a data folder of it')
    .argument('<snapshot>')
    .argument('<folder>', 'empty, or not there yet')
    .option('--damaged', 'restore also what is damaged')
    .action(async (snapshot: string, folder: string, options: { json?: boolean; damaged?: boolean }) =>
      done(await restoreCommand(snapshot, folder, options, io)),
    );
  withServer(command('promote', 'let a restored store go on in place of the original'))
    .argument('[store]', 'data folder or file of settings; stop the server of a data folder before, or ask it')
    .action(async (store: string | undefined, options: PromoteArguments) =>
      done(await promoteCommand(store, options, io)),
    );
  withServer(command('read-only', 'let servers refuse changes, or take them again'))
    .addArgument(new Argument('<mode>').choices(['on', 'off']))
    .argument('[store]', 'data folder or file of settings; the environment says it where absent')
    .action(async (mode: 'on' | 'off', store: string | undefined, options: SnapshotArguments) =>
      done(await readOnlyCommand(mode, store, options, io)),
    );
  return program;
}

/** Adds the options of a command that can call a running server. */
function withServer(command: Command): Command {
  return command
    .option('--server <url>', 'ask the process that serves the store')
    .option('--access-key <key>', 'access key at that server (or COFFER_ACCESS_KEY)')
    .option('--secret-key-file <path>', 'file with the secret key (or COFFER_SECRET_KEY_FILE, COFFER_SECRET_KEY)')
    .option('--ca-file <path>', 'certificates (PEM) that the server is checked against')
    .option('--region <name>', 'region that the server answers for', 'us-east-1');
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('expected a whole number');
  return Number(text);
}
