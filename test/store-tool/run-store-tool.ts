import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type CommandResult, runCommand } from '../harness/run-command.ts';

const program = fileURLToPath(new URL('../../server/store-tool/main.ts', import.meta.url));
const compileCache = fileURLToPath(new URL('../../node_modules/.cache/compile', import.meta.url));
const before = ['--disable-warning=ExperimentalWarning', program];
const ownEnv = { NODE_COMPILE_CACHE: compileCache, SVC_CONFIG_ENV_FILE: '/dev/null' };

/** Runs `coffer-store` as a process to its end. */
export function storeTool(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<CommandResult> {
  return runCommand(process.execPath, [...before, ...args], { env: { ...ownEnv, ...env } });
}

/** Starts it, to be killed. */
export function startStoreTool(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [...before, ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...ownEnv },
    stdio: 'ignore',
  });
}

/** The lines that `--json` printed. */
export function lines(result: CommandResult): readonly Readonly<Record<string, unknown>>[] {
  return result.stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
