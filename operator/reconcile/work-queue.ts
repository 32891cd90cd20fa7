import { backoffMs } from '../../platform/async/backoff.ts';

export interface WorkQueueOptions {
  /** Does the work of a key. After an error the queue calls `failed` and retries the key after a delay. */
  readonly work: (key: string) => Promise<void>;
  readonly failed: (key: string, error: unknown, retryInMs: number) => void;
  /** A number from 0 to 1, which spreads the delays. */
  readonly random: () => number;
  /** Number of keys that are worked on at once. */
  readonly workers?: number;
  /** Milliseconds that a key waits after `add`, so that changes close together are one. */
  readonly settleMs?: number;
  readonly firstRetryMs?: number;
  readonly lastRetryMs?: number;
}

interface Entry {
  failures: number;
  running: boolean;
  /** The next time to work on it, in milliseconds of the monotonic clock; undefined when there is no request. */
  due: number | undefined;
  /** The earliest time that an overloaded server allows. */
  floor: number;
  timer: NodeJS.Timeout | undefined;
}

/** Longer delays end early, and the work asks again: Node's timers fire at once beyond 2^31 ms. */
const maxDelayMs = 24 * 60 * 60 * 1_000;

/**
 * A queue of keys: one entry for each key, never the same key twice at once, and a growing delay for a key that fails. It holds keys
 * and no objects, so that the work always reads the current state.
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #entries = new Map<string, Entry>();
  /** Keys that are due and wait for a worker, oldest first. */
  readonly #ready = new Set<string>();
  readonly #underWay = new Set<Promise<void>>();
  #closed = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
  }

  /** Adds a key that is due after the settling delay or after `afterMs`. The earliest of several requests counts. */
  add(key: string, afterMs?: number): void {
    if (this.#closed) return;
    const entry = this.#entry(key);
    const { settleMs = 500 } = this.#options;
    const pause = Math.max(afterMs ?? settleMs, this.#hurriedPause(entry));
    const due = Math.max(performance.now() + Math.max(0, pause), entry.floor);
    if (entry.due !== undefined && entry.due <= due) return;
    entry.due = due;
    if (!entry.running && !this.#ready.has(key)) this.#schedule(key, entry);
  }

  /** The number of keys that wait for a worker or are worked on, for metrics. */
  get depth(): number {
    return this.#ready.size + this.#underWay.size;
  }

  /** The number of all keys, with those that are due later. */
  get size(): number {
    return this.#entries.size;
  }

  /** Starts no more work. Resolves when the work under way has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { timer } of this.#entries.values()) clearTimeout(timer);
    this.#entries.clear();
    this.#ready.clear();
    await Promise.all(this.#underWay);
  }

  #entry(key: string): Entry {
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const made: Entry = { failures: 0, running: false, due: undefined, floor: 0, timer: undefined };
    this.#entries.set(key, made);
    return made;
  }

  #schedule(key: string, entry: Entry): void {
    clearTimeout(entry.timer);
    if (entry.due === undefined) return;
    const pause = Math.min(maxDelayMs, Math.max(0, entry.due - performance.now()));
    entry.timer = setTimeout(() => {
      this.#ready.add(key);
      this.#workOnNext();
    }, pause);
  }

  #workOnNext(): void {
    const { workers = 4 } = this.#options;
    for (const key of this.#ready) {
      if (this.#underWay.size >= workers) return;
      this.#ready.delete(key);
      const task = this.#workOn(key).finally(() => {
        this.#underWay.delete(task);
        this.#workOnNext();
      });
      this.#underWay.add(task);
    }
  }

  async #workOn(key: string): Promise<void> {
    const entry = this.#entry(key);
    entry.running = true;
    entry.due = undefined;
    try {
      await this.#options.work(key);
      entry.failures = 0;
      entry.floor = 0;
    } catch (error) {
      this.#failed(key, entry, error);
    }
    entry.running = false;
    if (this.#closed) return;
    if (entry.due === undefined) this.#entries.delete(key);
    else this.#schedule(key, entry);
  }

  #failed(key: string, entry: Entry, error: unknown): void {
    const { failed } = this.#options;
    entry.failures += 1;
    const retryAfterMs = retryAfterOf(error) ?? 0;
    const pause = Math.max(retryAfterMs, this.#growingPause(entry));
    const now = performance.now();
    entry.floor = now + retryAfterMs;
    // A request that came while the work ran is part of the next attempt: often the work itself caused it.
    entry.due = now + pause;
    failed(key, error, pause);
  }

  #growingPause({ failures }: Entry): number {
    const { firstRetryMs = 1_000, lastRetryMs = 60_000 } = this.#options;
    return backoffMs(failures, { firstMs: firstRetryMs, maxMs: lastRetryMs }, this.#options.random);
  }

  /** A change may repair a failing key, so it does not wait for the whole delay. Work that triggers itself must not spin. */
  #hurriedPause(entry: Entry): number {
    if (entry.failures === 0) return 0;
    return Math.max(this.#options.firstRetryMs ?? 1_000, this.#growingPause(entry) / 8);
  }
}

/** Returns the delay that a server asked for, as `KubeError` has it. */
function retryAfterOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('retryAfterMs' in error)) return undefined;
  return typeof error.retryAfterMs === 'number' ? error.retryAfterMs : undefined;
}
