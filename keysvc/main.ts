import { errorText } from '../platform/system-error.ts';
import { failOnLostOutput } from '../platform/standard-output.ts';
import { ProgramError } from '../platform/program-error.ts';
import { cleanProcessVariables } from '../platform/settings/setting-variables.ts';
import { CommanderError } from 'commander';
import { askSecret, interruption, readInput } from './commands/terminal.ts';
import { makeProgram } from './commands/program.ts';

const usageExit = 2;

failOnLostOutput('keysvc');

try {
  cleanProcessVariables({
    prefixes: ['KEYSVC_', 'KES_', 'AZURE_', 'AWS_', 'GOOGLE_'],
    secrets: ['KEYSVC_KEY_PASSWORD'],
  });
  await makeProgram({
    environment: process.env,
    isTerminal: process.stdout.isTTY,
    write: (text) => process.stdout.write(text),
    report: (text) => process.stderr.write(text),
    askSecret,
    readInput,
    get interrupted() {
      return interruption();
    },
  }).parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
  // Commander has printed its own errors.
  if (!(error instanceof CommanderError)) process.stderr.write(`Error: ${errorText(error)}\n`);
  // A failed start may leave open handles, which would keep the process running.
  process.exit();
}

function exitCodeOf(error: unknown): number {
  if (error instanceof ProgramError && error.code === 'usage') return usageExit;
  if (!(error instanceof CommanderError)) return 1;
  return error.exitCode === 0 ? 0 : usageExit;
}
