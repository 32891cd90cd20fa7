import { errorText } from '../platform/errors/system-error.ts';
import { failOnLostOutput } from '../platform/output/standard-output.ts';
import { ProgramError } from '../platform/errors/program-error.ts';
import { cleanProcessVariables } from '../platform/settings/setting-variables.ts';
import { CommanderError } from 'commander';
import { askSecret, interruption, readInput } from './commands/terminal.ts';
import { makeProgram } from './commands/program.ts';
import { variables } from './commands/variables.ts';

const usageExit = 2;

failOnLostOutput('keysvc');

try {
  cleanProcessVariables(variables);
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
