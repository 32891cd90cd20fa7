import { readdirSync, readFileSync, writeFileSync, openSync } from 'node:fs';
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask } from '../generator/ask.ts';
import type { Endpoint } from '../generator/request-signer.ts';
import { readyPath, rootPassword, rootUser, type ServerProgram, type ServerRun } from './server-programs.ts';

/**
 * Linux counts processor time in hundredths of a second.
 *
 * @see proc_pid_stat(5)
 */
const ticksPerSecond = 100;

interface ProcessStat {
  readonly parent: number;
  readonly cpuSeconds: number;
}

/** Parses the fields after the command's name, which may contain spaces and brackets. Undefined for an invalid line. */
export function parseStat(text: string): ProcessStat | undefined {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [parent, user, system] = [fields[1], fields[11], fields[12]].map(Number);
  if (parent === undefined || user === undefined || system === undefined || Number.isNaN(user + system))
    return undefined;
  return { parent, cpuSeconds: (user + system) / ticksPerSecond };
}

/** A process with all its descendants: a server with its launcher. */
export class ProcessTree {
  readonly #root: number;

  constructor(root: number) {
    this.#root = root;
  }

  pids(): number[] {
    const parents = new Map<number, number>();
    for (const entry of readdirSync('/proc')) {
      if (/^\d+$/.test(entry)) parents.set(Number(entry), stat(Number(entry))?.parent ?? 0);
    }
    const tree = [this.#root];
    for (const known of tree) {
      for (const [pid, parent] of parents) if (parent === known) tree.push(pid);
    }
    return tree;
  }

  cpuSeconds(): number {
    return this.pids().reduce((sum, pid) => sum + (stat(pid)?.cpuSeconds ?? 0), 0);
  }

  /** Returns the highest resident memory since `resetPeak` in bytes, with the pages of files. */
  peakBytes(): number {
    return this.#sum('VmHWM');
  }

  /** Returns the resident memory without the pages of files, in bytes. */
  anonymousBytes(): number {
    return this.#sum('RssAnon');
  }

  /** Resets the peak. It returns false if the system does not allow it; the peak is then that of the process' lifetime. */
  resetPeak(): boolean {
    try {
      for (const pid of this.pids()) writeFileSync(`/proc/${pid}/clear_refs`, '5');
      return true;
    } catch {
      return false;
    }
  }

  #sum(field: string): number {
    return this.pids().reduce((sum, pid) => sum + statusBytes(pid, field), 0);
  }
}

function stat(pid: number): ProcessStat | undefined {
  return parseStat(read(`/proc/${pid}/stat`));
}

function statusBytes(pid: number, field: string): number {
  const line = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(read(`/proc/${pid}/status`));
  return Number(line?.[1] ?? 0) * 1024;
}

/** Reads a file of the process; '' if the process has ended. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** The limit is high, because a server may need minutes for a folder of many objects. */
const startsWithinMs = 600_000;
const stopsWithinMs = 60_000;

/** A server process, which can be suspended. */
export class RunningServer {
  readonly program: ServerProgram;
  readonly run: ServerRun;
  readonly endpoint: Endpoint;
  readonly tree: ProcessTree;
  /** Milliseconds from the start of the process to the first 200 of its health check. */
  readonly readyMs: number;
  readonly #child: ChildProcess;

  private constructor(program: ServerProgram, run: ServerRun, child: ChildProcess, tree: ProcessTree, readyMs: number) {
    this.program = program;
    this.run = run;
    this.endpoint = endpointOf(run);
    this.tree = tree;
    this.readyMs = readyMs;
    this.#child = child;
  }

  /** Starts the server and waits until it is ready. Its output goes to a file next to its folder. */
  static async start(program: ServerProgram, run: ServerRun, more: NodeJS.ProcessEnv = {}): Promise<RunningServer> {
    const { args, env } = program.command(run);
    killedWithThisProcess();
    const log = openSync(`${run.folder}.log`, 'a');
    const started = performance.now();
    const child = spawn(run.program, args, {
      cwd: join(run.folder, '..'),
      stdio: ['ignore', log, log],
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env, ...more },
    });
    const tree = new ProcessTree(child.pid ?? 0);
    alive.add(tree);
    child.once('exit', () => alive.delete(tree));
    const ended = new AbortController();
    const failed = new Promise<never>((_, reject) => {
      child.once('error', reject);
      child.once('exit', () => ended.abort());
      child.once('exit', (code) => reject(new Error(`${program.name} exited with ${code}: see ${run.folder}.log`)));
    });
    await Promise.race([ready(endpointOf(run), ended.signal), failed]);
    // A later end of the process shows as a failed connection.
    failed.catch(() => {});
    const readyMs = performance.now() - started;
    return new RunningServer(program, run, child, tree, readyMs);
  }

  /** Suspends the server, so that it takes nothing from the server that is measured. */
  pause(): void {
    this.#signal('SIGSTOP');
  }

  resume(): void {
    this.#signal('SIGCONT');
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = new Promise((resolve) => {
      this.#child.once('exit', resolve);
    });
    const pids = this.tree.pids();
    this.resume();
    this.#child.kill('SIGTERM');
    const late = setTimeout(() => {
      for (const pid of pids) kill(pid, 'SIGKILL');
    }, stopsWithinMs);
    await exited;
    clearTimeout(late);
  }

  #signal(signal: NodeJS.Signals): void {
    for (const pid of this.tree.pids()) kill(pid, signal);
  }
}

/** The running servers. A benchmark that ends early must kill them, also the suspended ones. */
const alive = new Set<ProcessTree>();
let watching = false;

function killedWithThisProcess(): void {
  if (watching) return;
  watching = true;
  process.once('exit', () => {
    for (const tree of alive) for (const pid of tree.pids()) kill(pid, 'SIGKILL');
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
}

function endpointOf({ port }: ServerRun): Endpoint {
  return { host: '127.0.0.1', port, accessKey: rootUser, secretKey: rootPassword, region: 'us-east-1' };
}

async function ready(endpoint: Endpoint, ended: AbortSignal): Promise<void> {
  const until = performance.now() + startsWithinMs;
  while (performance.now() < until && !ended.aborted) {
    try {
      const { status, head } = await ask(endpoint, { method: 'GET', path: readyPath, query: '' });
      // MinIO answers 200 before its identities are loaded.
      if (status === 200 && !/^x-minio-server-status: offline/im.test(head)) return;
    } catch {
      // The server does not listen yet.
    }
    await sleep(5);
  }
  throw new Error(`no 200 from ${readyPath} within ${startsWithinMs / 1000} s`);
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}
