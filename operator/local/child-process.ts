import { spawn, type ChildProcess } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { ChildLog } from './child-log.ts';
import { identifyProcess, isRunning, parseIdentity } from './process-identity.ts';

export interface Command {
  /** Path of a TypeScript program. */
  readonly script: string;
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** As bin/node-26.js has it, so that a first start in a new state folder is as fast as a second; Node does without where it cannot write. */
export const compileCache = fileURLToPath(new URL('../../node_modules/.cache/compile', import.meta.url));

/** Milliseconds that a program has to end by itself after SIGTERM. */
const patienceMs = 20_000;

/** A program that runs. It ends with this process, even by SIGKILL: the IPC channel then closes. */
export class RunningChild {
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcess;

  constructor(command: Command, log: ChildLog, pidFile: string) {
    this.#child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', command.script, ...command.arguments],
      {
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
        env: { ...command.environment, COFFER_EXIT_WITH_PARENT: '1' },
        // A session of its own: Ctrl-C reaches this process alone, which stops its children in order.
        detached: process.platform !== 'win32',
      },
    );
    const child = this.#child;
    if (child.stdout !== null) log.follow(child.stdout);
    if (child.stderr !== null) log.follow(child.stderr);
    this.exited = new Promise((resolve) => {
      const end = (exit: Exit) => {
        rmSync(pidFile, { force: true });
        resolve(exit);
      };
      child.once('exit', (code, signal) => end({ code, signal }));
      child.once('error', () => end({ code: null, signal: null }));
    });
    if (child.pid !== undefined) {
      writeFileSync(pidFile, `${JSON.stringify(identifyProcess(child.pid) ?? { pid: child.pid, startedAt: '' })}\n`, {
        mode: 0o600,
      });
    }
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Asks it to end, waits, ends it by force. Resolves when it is gone. */
  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    const force = setTimeout(() => this.#child.kill('SIGKILL'), patienceMs);
    await this.exited;
    clearTimeout(force);
  }
}

/** Ends a program that an earlier operator left running, as its pid file tells. */
export async function endLeftover(pidFile: string): Promise<void> {
  const text = await readFile(pidFile, 'utf8').catch(() => '');
  const identity = parseIdentity(text);
  if (identity !== undefined) {
    const deadline = Date.now() + patienceMs;
    for (let signal: NodeJS.Signals = 'SIGTERM'; isRunning(identity); await pause(100)) {
      if (Date.now() > deadline) signal = 'SIGKILL';
      try {
        process.kill(identity.pid, signal);
      } catch {
        break;
      }
    }
  }
  rmSync(pidFile, { force: true });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
