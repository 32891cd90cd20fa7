export interface WorkQueueOptions {
  /** Does the work of a key. An error is told by `failed`, and the key comes again after a pause. */
  readonly work: (key: string) => Promise<void>;
  readonly failed: (key: string, error: unknown, retryInMs: number) => void;
  /** A number from 0 to 1; spreads the pauses. */
  readonly random: () => number;
  /** Keys at work at once. */
  readonly workers?: number;
  /** Milliseconds that a key waits after it was added, so that changes close together are one. */
  readonly settleMs?: number;
  readonly firstRetryMs?: number;
  readonly lastRetryMs?: number;
}

interface Entry {
  failures: number;
  running: boolean;
  /** When it is to be worked on next, in milliseconds since the epoch; undefined while nothing asks for it. */
  due: number | undefined;
  /** Not before this: what a server said that is overloaded. */
  floor: number;
  timer: NodeJS.Timeout | undefined;
}

/** Longer pauses end early, and the work asks again: Node's timers fire at once beyond 2^31 ms. */
const maxDelayMs = 24 * 60 * 60 * 1_000;

/**
 * Keys to work on: one entry for each, never the same one twice at once, a growing pause for one that fails. It holds keys and no
 * objects, so that work always sees what is there now.
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #entries = new Map<string, Entry>();
  /** Keys whose time has come and that no worker took yet, oldest first. */
  readonly #ready = new Set<string>();
  readonly #underWay = new Set<Promise<void>>();
  #closed = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
  }

  /** Asks for a key, after the settling pause or after `afterMs`. Of several requests the earliest counts. */
  add(key: string, afterMs?: number): void {
    if (this.#closed) return;
    const entry = this.#entry(key);
    const { settleMs = 500 } = this.#options;
    const pause = Math.max(afterMs ?? settleMs, this.#hurriedPause(entry));
    const due = Math.max(Date.now() + Math.max(0, pause), entry.floor);
    if (entry.due !== undefined && entry.due <= due) return;
    entry.due = due;
    if (!entry.running && !this.#ready.has(key)) this.#schedule(key, entry);
  }

  /** Keys that wait for a worker or are at work: the depth of the queue, for metrics. */
  get depth(): number {
    return this.#ready.size + this.#underWay.size;
  }

  /** All keys that it knows, with those that come again later. */
  get size(): number {
    return this.#entries.size;
  }

  /** Begins nothing more. Resolves when what is under way has ended. */
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
    const pause = Math.min(maxDelayMs, Math.max(0, entry.due - Date.now()));
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
    const { random, failed } = this.#options;
    entry.failures += 1;
    const told = retryAfterOf(error) ?? 0;
    const pause = Math.max(told, this.#growingPause(entry) * (0.75 + random() / 2));
    const now = Date.now();
    entry.floor = now + told;
    // What was asked for while it ran is part of the next attempt: often it was the work itself that stirred it.
    entry.due = now + pause;
    failed(key, error, pause);
  }

  #growingPause({ failures }: Entry): number {
    const { firstRetryMs = 1_000, lastRetryMs = 60_000 } = this.#options;
    return Math.min(lastRetryMs, firstRetryMs * 2 ** Math.min(failures - 1, 30));
  }

  /** A change may repair what fails, so it need not wait for the whole pause; but work that stirs itself must not spin. */
  #hurriedPause(entry: Entry): number {
    if (entry.failures === 0) return 0;
    return Math.max(this.#options.firstRetryMs ?? 1_000, this.#growingPause(entry) / 8);
  }
}

/** What a server told with its refusal, as `KubeError` has it. */
function retryAfterOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('retryAfterMs' in error)) return undefined;
  return typeof error.retryAfterMs === 'number' ? error.retryAfterMs : undefined;
}
