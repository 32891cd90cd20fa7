import type { WorkloadState } from '../../contract/runtime.ts';
import { type ChildLog, RunningChild, type Command, type Exit } from './child-process.ts';
import type { ProbeResult } from './addresses.ts';
import { backoffMs, type Backoff } from '../../../platform/async/backoff.ts';

/** The delays before a crashed program starts again. */
const restartBackoff: Backoff = { firstMs: 250, maxMs: 30_000 };

/** Milliseconds of running after which the count of crashes starts again. */
const steadyMs = 30_000;

/** Crashes in a row from which a program counts as looping. */
const loopingFrom = 3;

interface SupervisorOptions {
  readonly command: Command;
  readonly log: ChildLog;
  readonly pidFile: string;
  readonly ready: () => Promise<ProbeResult>;
  /** Called when the state changes. */
  readonly changed: () => void;
  /** Called when the program ends by itself. */
  readonly crashed: (message: string) => void;
  readonly random: () => number;
}

/** Milliseconds between probes: short until the program is ready, then longer. */
const lookMs = { starting: 60, ready: 3_000 } as const;
/** Failed probes in a row after which a ready program counts as not ready. */
const tolerated = 2;

/** Keeps one program running until `stop`. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  #state: WorkloadState = { kind: 'starting' };
  #child: RunningChild | undefined;
  #crashes = 0;
  #stopping = false;
  #timer: NodeJS.Timeout | undefined;
  #misses = 0;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#start();
  }

  get state(): WorkloadState {
    return this.#state;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#timer);
    await this.#child?.stop();
    this.#set({ kind: 'stopped' });
  }

  #start(): void {
    const { command, log, pidFile } = this.#options;
    log.forget();
    const startedAt = Date.now();
    const child = new RunningChild(command, log, pidFile);
    this.#child = child;
    this.#misses = 0;
    void child.exited.then((exit) => this.#ended(exit, Date.now() - startedAt));
    this.#lookIn(lookMs.starting, child);
  }

  #lookIn(ms: number, child: RunningChild): void {
    this.#timer = setTimeout(() => void this.#look(child), ms);
  }

  async #look(child: RunningChild): Promise<void> {
    const result = await this.#options.ready();
    if (this.#child === child && !this.#stopping) this.#looked(result, child);
  }

  #looked(result: ProbeResult, child: RunningChild): void {
    const wasReady = this.#state.kind === 'ready';
    if (result.ok) {
      this.#misses = 0;
      if (!wasReady) this.#set({ kind: 'ready' });
    } else if (wasReady || this.#state.kind === 'not-ready') {
      const { message, waitsFor } = result;
      this.#misses += 1;
      if (this.#misses >= tolerated) this.#set({ kind: 'not-ready', message, ...(waitsFor && { waitsFor }) });
    } else if (this.#state.kind === 'starting') {
      this.#set({ kind: 'starting', ...(result.waitsFor && { waitsFor: result.waitsFor }) });
    }
    const soon = this.#state.kind === 'ready' && this.#misses === 0 ? lookMs.ready : lookMs.starting * 4;
    this.#lookIn(this.#state.kind === 'starting' || this.#state.kind === 'crash-loop' ? lookMs.starting : soon, child);
  }

  #ended(exit: Exit, ranMs: number): void {
    this.#child = undefined;
    clearTimeout(this.#timer);
    if (this.#stopping) return;
    this.#crashes = ranMs >= steadyMs ? 1 : this.#crashes + 1;
    const how = exit.signal === null ? `exit code ${exit.code ?? 'unknown'}` : `signal ${exit.signal}`;
    const message = `${how}; ${this.#options.log.lastWords()}`;
    this.#options.crashed(message);
    this.#set(
      this.#crashes >= loopingFrom ? { kind: 'crash-loop', restarts: this.#crashes, message } : { kind: 'starting' },
    );
    this.#timer = setTimeout(() => this.#start(), backoffMs(this.#crashes, restartBackoff, this.#options.random));
  }

  #set(state: WorkloadState): void {
    const changed = JSON.stringify(state) !== JSON.stringify(this.#state);
    this.#state = state;
    if (changed) this.#options.changed();
  }
}
