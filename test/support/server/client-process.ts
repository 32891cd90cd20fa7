import { spawn } from 'node:child_process';
import { delimiter } from 'node:path';
import { programArguments, programEnvironment } from '../process/program.ts';

const sources = [process.execPath, ...programArguments(new URL('../../../cli/main.ts', import.meta.url))];

/** The Node and the script of the client: the installed one in the tier `installed`. */
const [node = '', ...program] = process.env['COFFER_TEST_CLIENT']?.split(delimiter) ?? sources;

export interface ClientProcess {
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Resolves when the process has ended, however it ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>;
}

/** Starts the client as a process of its own, which can be killed. Nothing of this process' environment but `PATH` is passed on. */
export function startClient(args: readonly string[], env: Readonly<Record<string, string>>): ClientProcess {
  const child = spawn(node, [...program, ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...programEnvironment, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve, reject) => {
    child.on('error', reject).on('close', (code) => resolve({ code, ...output }));
  });
  return { kill: (signal) => void child.kill(signal), ended };
}
