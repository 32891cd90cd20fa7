import { createWriteStream, existsSync, renameSync, statSync, type WriteStream, rmSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { spawn, type ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { identifyProcess, isRunning, parseIdentity } from './process-identity.ts';

const maxBytes = 16 * 1024 * 1024;
const rememberedLines = 20;
const levels: Readonly<Record<string, string>> = { '40': 'warn', '50': 'error', '60': 'fatal' };

/** The log file of one workload. It remembers the last lines for the message of a crash. */
export class ChildLog {
  readonly path: string;
  readonly #warning: (line: string) => void;
  readonly #everything: boolean;
  #file: WriteStream | undefined;
  #size = 0;
  #last: string[] = [];

  /** `warning` gets lines of level warn and above, or every line with `everything`. */
  constructor(path: string, warning: (line: string) => void, everything: boolean) {
    this.path = path;
    this.#warning = warning;
    this.#everything = everything;
  }

  follow(stream: Readable): void {
    const lines = createInterface({ input: stream, crlfDelay: Infinity });
    lines.on('line', (line) => this.#line(line));
  }

  /** Returns the last error of the program, or else its last line. */
  lastWords(): string {
    const warning = this.#last.map(warningOf).findLast((line) => line !== undefined);
    return (warning ?? this.#last.at(-1) ?? 'it wrote nothing').slice(0, 1_000);
  }

  forget(): void {
    this.#last = [];
  }

  close(): void {
    this.#file?.end();
    this.#file = undefined;
  }

  #line(line: string): void {
    this.#write(`${line}\n`);
    if (line.trim() === '') return;
    this.#last = [...this.#last.slice(1 - rememberedLines), line];
    const warning = this.#everything ? line : warningOf(line);
    if (warning !== undefined) this.#warning(warning);
  }

  #write(text: string): void {
    if (this.#file === undefined || this.#size > maxBytes) this.#open();
    this.#size += Buffer.byteLength(text);
    this.#file?.write(text);
  }

  #open(): void {
    this.#file?.end();
    const size = existsSync(this.path) ? statSync(this.path).size : 0;
    if (size > maxBytes) renameSync(this.path, `${this.path}.1`);
    this.#size = size > maxBytes ? 0 : size;
    this.#file = createWriteStream(this.path, { flags: 'a', mode: 0o600 });
    // A full disk must not end the operator.
    this.#file.on('error', () => undefined);
  }
}

/** Returns the message of a JSON log line of level warn or above. */
function warningOf(line: string): string | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const { level, msg, err } = JSON.parse(line) as { level?: unknown; msg?: unknown; err?: { message?: unknown } };
    const name = levels[String(level)] ?? (typeof level === 'string' ? level : '');
    if (!['warn', 'error', 'fatal'].includes(name)) return undefined;
    const cause = typeof err?.message === 'string' && err.message !== msg ? `: ${err.message}` : '';
    return `${name} ${typeof msg === 'string' ? msg : ''}${cause}`;
  } catch {
    return undefined;
  }
}

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

/**
 * The same compile cache as in bin/node-26.js, so that a first start in a new state folder is fast. Node works without it when it cannot
 * write.
 */
export const compileCache = fileURLToPath(new URL('../../../node_modules/.cache/compile', import.meta.url));

/** Milliseconds between SIGTERM and SIGKILL. */
const gracePeriodMs = 20_000;

/** A running program. It ends with this process, even after SIGKILL, when the IPC channel closes. */
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
        // The child has its own session: Ctrl-C reaches this process only, which stops its children in order.
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

  /** Asks the program to end, waits, and then kills it. Resolves when it is gone. */
  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    const force = setTimeout(() => this.#child.kill('SIGKILL'), gracePeriodMs);
    await this.exited;
    clearTimeout(force);
  }
}

/** Ends a program that an earlier operator left, by its pid file. */
export async function endLeftover(pidFile: string): Promise<void> {
  const text = await readFile(pidFile, 'utf8').catch(() => '');
  const identity = parseIdentity(text);
  if (identity !== undefined) {
    const deadline = performance.now() + gracePeriodMs;
    for (let signal: NodeJS.Signals = 'SIGTERM'; isRunning(identity); await pause(100)) {
      if (performance.now() > deadline) signal = 'SIGKILL';
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
