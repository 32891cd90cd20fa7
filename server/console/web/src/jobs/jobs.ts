import { useSyncExternalStore } from 'react';

/** Work on many objects that this page does one by one, for example a move of a folder. */
export interface Job {
  readonly id: number;
  readonly title: string;
  /** Objects that are done. */
  readonly done: number;
  /** Undefined while the objects are still counted. */
  readonly total: number | undefined;
  /** The first failures. */
  readonly failed: readonly { readonly key: string; readonly message: string }[];
  readonly failures: number;
  readonly state: 'running' | 'done' | 'stopped';
}

/** What the work reports, and the signal that stops it. */
export interface JobContext {
  readonly signal: AbortSignal;
  total(count: number): void;
  done(): void;
  failed(key: string, error: Error): void;
}

const failuresShown = 20;

/** The jobs of the page. They go on while the user visits other pages, and end with the window. */
export class Jobs {
  readonly #listeners = new Set<() => void>();
  readonly #aborts = new Map<number, AbortController>();
  #jobs: readonly Job[] = [];
  #nextId = 1;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly list = (): readonly Job[] => this.#jobs;

  /** Starts the work and resolves when it has ended. It never rejects: the job has the failure. */
  async run(title: string, work: (context: JobContext) => Promise<void>): Promise<Job | undefined> {
    const id = this.#nextId++;
    const abort = new AbortController();
    this.#aborts.set(id, abort);
    this.#change([{ id, title, done: 0, total: undefined, failed: [], failures: 0, state: 'running' }, ...this.#jobs]);
    const failed = (key: string, error: Error): void => {
      this.#update(id, (job) => ({
        failures: job.failures + 1,
        failed: job.failed.length < failuresShown ? [...job.failed, { key, message: error.message }] : job.failed,
      }));
    };
    try {
      await work({
        signal: abort.signal,
        total: (total) => this.#update(id, () => ({ total })),
        done: () => this.#update(id, (job) => ({ done: job.done + 1 })),
        failed,
      });
    } catch (error) {
      if (!abort.signal.aborted) failed('', error instanceof Error ? error : new Error('It failed.'));
    }
    this.#update(id, () => ({ state: abort.signal.aborted ? 'stopped' : 'done' }));
    this.#aborts.delete(id);
    return this.#jobs.find((job) => job.id === id);
  }

  stop(id: number): void {
    this.#aborts.get(id)?.abort();
  }

  /** Removes the jobs that have ended. */
  clear(): void {
    this.#change(this.#jobs.filter(({ state }) => state === 'running'));
  }

  #update(id: number, change: (job: Job) => Partial<Job>): void {
    this.#change(this.#jobs.map((job) => (job.id === id ? { ...job, ...change(job) } : job)));
  }

  #change(jobs: readonly Job[]): void {
    this.#jobs = jobs;
    for (const listener of this.#listeners) listener();
  }
}

export const jobs = new Jobs();

export function useJobs() {
  return useSyncExternalStore(jobs.subscribe, jobs.list);
}
