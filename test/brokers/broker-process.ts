import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { signalTree } from '../support/process/process-tree.ts';

interface BrokerOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Milliseconds in which it listens. */
  readonly startsInMs?: number;
}

/** A program of the test's own that listens on a port of 127.0.0.1. */
export class BrokerProcess {
  readonly #program: string;
  readonly #args: readonly string[];
  readonly port: number;
  readonly #options: BrokerOptions;
  #child: ChildProcess | undefined;

  constructor(program: string, port: number, args: readonly string[], options: BrokerOptions = {}) {
    this.#program = program;
    this.port = port;
    this.#args = args;
    this.#options = options;
  }

  async start(): Promise<void> {
    const { env = {}, startsInMs = 15_000 } = this.#options;
    this.#child = spawn(this.#program, [...this.#args], { stdio: 'ignore', env: { ...process.env, ...env } });
    const end = Date.now() + startsInMs;
    while (!(await accepts(this.port))) {
      if (Date.now() > end) throw new Error(`${this.#program} does not listen on ${this.port}`);
      await sleep(50);
    }
  }

  /** SIGKILL, also of its children. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined) return;
    const exited = once(child, 'exit');
    signalTree(child.pid, 'SIGKILL');
    await exited;
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
