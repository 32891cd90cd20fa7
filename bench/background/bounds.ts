import { availableParallelism } from 'node:os';
import { deviceCounters } from '../machine/device-counters.ts';
import type { ProcessTree } from '../servers/running-server.ts';
import { number } from '../statistics.ts';

/** Sums since some time; those of the disk are NaN where the system does not count them. */
interface Sums {
  readonly ms: number;
  /** Milliseconds of processor time. */
  readonly server: number;
  readonly client: number;
  readonly flushes: number;
  readonly flushMs: number;
}

/** Measures the share of the machine that a load takes from the construction on. The share shows what bounds the rate. */
export class Bounds {
  readonly #server: ProcessTree;
  readonly #folder: string;
  readonly #start: Sums;

  /** `folder` is on the disk of the server. */
  constructor(server: ProcessTree, folder: string) {
    this.#server = server;
    this.#folder = folder;
    this.#start = this.#read();
  }

  #read(): Sums {
    const { user, system } = process.cpuUsage();
    const disk = deviceCounters(this.#folder);
    return {
      ms: performance.now(),
      server: this.#server.cpuSeconds() * 1_000,
      client: (user + system) / 1_000,
      flushes: disk?.flushes ?? Number.NaN,
      flushMs: disk?.flushMs ?? Number.NaN,
    };
  }

  describe(changes: number): string {
    const now = this.#read();
    const since = (what: keyof Sums) => now[what] - this.#start[what];
    const share = (what: keyof Sums) => `${number((since(what) / since('ms') / availableParallelism()) * 100)} %`;
    return [
      `of ${availableParallelism()} processors the server took ${share('server')} and the client ${share('client')}`,
      `a change took ${number((since('server') / changes) * 1_000)} µs of the server and ${number((since('client') / changes) * 1_000)} µs of the client`,
      `the disk made ${number(since('flushes') / changes)} flushes for each change, of all programs, ${number(since('flushMs') / since('flushes'))} ms each: ${number((since('flushMs') / since('ms')) * 100)} % of the time`,
    ].join('; ');
  }
}
