import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ConcurrentWork } from '../measure-round.ts';
import type { Step } from '../options.ts';
import type { RunningServer } from '../servers/running-server.ts';

/**
 * The fields of a `.cpuprofile` that are used here.
 *
 * @see https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile
 */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

interface SelfTime {
  readonly name: string;
  readonly microseconds: number;
}

const shownFunctions = 40;
/** Starting a profile takes some time of the thread, which is not the program's. */
const notBusy = /^\(idle\)$|^post node:inspector/;

/** Returns the self time of each function, in descending order. Native code counts for its caller. */
export function selfTimes({ nodes, samples, timeDeltas }: CpuProfile): SelfTime[] {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const times = new Map<string, number>();
  for (const [at, id] of samples.entries()) {
    const name = names.get(id) ?? '(unknown)';
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[at] ?? 0));
  }
  return [...times]
    .map(([name, microseconds]) => ({ name, microseconds }))
    .sort((a, b) => b.microseconds - a.microseconds);
}

interface ThreadProfile {
  readonly thread: string;
  readonly profile: CpuProfile;
}

/** Shares are of the thread's busy time. */
export function renderProfile(title: string, threads: readonly ThreadProfile[]): string {
  const parts = threads.map(({ thread, profile }) => {
    const all = selfTimes(profile);
    const busy = all.filter(({ name }) => !notBusy.test(name));
    const [total, busyTime] = [sum(all), sum(busy)];
    const lines = busy
      .slice(0, shownFunctions)
      .map(({ name, microseconds }) => `${((microseconds / busyTime) * 100).toFixed(1).padStart(6)} %  ${name}`);
    return `thread ${thread}: busy ${((busyTime / total) * 100).toFixed(0)} % of ${(total / 1e6).toFixed(1)} s\n${lines.join('\n')}`;
  });
  return `${title}: self time of functions, as shares of the time their thread was busy\n\n${parts.join('\n\n')}\n`;
}

function sum(times: readonly SelfTime[]): number {
  return times.reduce((total, { microseconds }) => total + microseconds, 0);
}

function nameOf({ functionName, url, lineNumber }: CpuProfile['nodes'][number]['callFrame']): string {
  const place = url.replace(/^.*\/(?=(server|protocol|platform|bin|node_modules)\/)/, '');
  const name = functionName === '' ? '(anonymous)' : functionName;
  return place === '' ? name : `${name} ${place}:${lineNumber + 1}`;
}

const inThread = fileURLToPath(new URL('in-thread.js', import.meta.url));
/** Each thread needs time to start its profile, and to write its file. */
const startMs = 200;
const writeMs = 1_500;

/**
 * Writes profiles of all threads of Coffer during a load: `LOAD-at-CONNECTIONS.thread-N.cpuprofile`, and one `.txt` for each load. With
 * encryption the names contain `-encrypted`.
 */
export class CofferProfile {
  readonly folder: string;
  /** The environment of the server, which loads the profiler into each thread. */
  readonly environment: NodeJS.ProcessEnv;

  constructor(folder: string) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    this.folder = folder;
    this.environment = { NODE_OPTIONS: `--import=${inThread}`, COFFER_BENCH_PROFILE: folder };
  }

  /** Returns the work that profiles one round. */
  of(server: RunningServer): ConcurrentWork {
    let name = '';
    return {
      begin: async (step: Step) => {
        const encrypted = server.program.name === 'coffer-encrypted' ? '-encrypted' : '';
        name = `${step.load}-at-${step.connections}${encrypted}`;
        this.#control(server, name);
        await sleep(startMs);
      },
      end: async () => {
        this.#control(server, '');
        await sleep(writeMs);
        this.#summarize(name);
      },
    };
  }

  #control(server: RunningServer, name: string): void {
    writeFileSync(join(this.folder, 'control'), name);
    // The launcher does not forward this signal.
    const program = server.tree.pids().at(-1);
    if (program !== undefined) process.kill(program, 'SIGUSR2');
  }

  #summarize(name: string): void {
    const files = readdirSync(this.folder).filter(
      (file) => file.startsWith(`${name}.`) && file.endsWith('.cpuprofile'),
    );
    const profiles = files.map((file) => ({
      thread: /thread-(\d+)/.exec(file)?.[1] ?? '?',
      profile: JSON.parse(readFileSync(join(this.folder, file), 'utf8')) as CpuProfile,
    }));
    writeFileSync(join(this.folder, `${name}.txt`), renderProfile(name, profiles));
  }
}
