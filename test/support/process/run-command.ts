import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. Its environment is what is given here and `PATH`, nothing of this process'. */
export function runCommand(
  program: string,
  args: readonly string[],
  options: {
    readonly env?: Readonly<Record<string, string>>;
    readonly input?: string;
    readonly cwd?: string;
    readonly timeoutMs?: number;
  } = {},
): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...options.env },
      cwd: options.cwd,
      timeout: options.timeoutMs ?? 60_000,
      killSignal: 'SIGKILL',
    });
    const output = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].setEncoding('utf8').on('data', (text: string) => {
        output[stream] += text;
      });
    }
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...output }));
    // A program may end without reading what it is given; how it ended says more.
    child.stdin.on('error', () => {}).end(options.input ?? '');
  });
}

const tools = process.env['COFFER_TOOLS'] ?? join(homedir(), '.cache', 'coffer-tools');

/** The path of a real part that `.ci/install` put there. A tier whose part is missing fails: it is never skipped. */
export function tool(path: string, installName: string): string {
  const full = join(tools, path);
  if (!existsSync(full))
    throw new Error(`${full} is missing: run ".ci/install ${installName}", or the whole tier by ".ci/tier"`);
  return full;
}
