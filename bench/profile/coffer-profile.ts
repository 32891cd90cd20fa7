import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Beside } from '../measure-round.ts';
import type { Step } from '../options.ts';
import type { RunningServer } from '../servers/running-server.ts';
import { type CpuProfile, renderProfile } from './summarize-profile.ts';

const inThread = fileURLToPath(new URL('in-thread.js', import.meta.url));
/** For every thread to begin, and to write its file at the end. */
const startMs = 200;
const writeMs = 1_500;

/** Profiles of every thread of Coffer while a load runs: `LOAD-at-CONNECTIONS.thread-N.cpuprofile`, and one `.txt` of each load,
 * with `-encrypted` in their names where Coffer encrypts. */
export class CofferProfile {
  readonly folder: string;
  /** For the server: loads what profiles into each of its threads. */
  readonly environment: NodeJS.ProcessEnv;

  constructor(folder: string) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    this.folder = folder;
    this.environment = { NODE_OPTIONS: `--import=${inThread}`, COFFER_BENCH_PROFILE: folder };
  }

  /** What makes a profile of one round. */
  of(server: RunningServer): Beside {
    let name = '';
    return {
      begin: async (step: Step) => {
        const encrypted = server.program.name === 'coffer-encrypted' ? '-encrypted' : '';
        name = `${step.load}-at-${step.connections}${encrypted}`;
        this.#tell(server, name);
        await sleep(startMs);
      },
      end: async () => {
        this.#tell(server, '');
        await sleep(writeMs);
        this.#summarize(name);
      },
    };
  }

  #tell(server: RunningServer, name: string): void {
    writeFileSync(join(this.folder, 'control'), name);
    // The launcher passes no such signal on.
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
