interface RolloutLimitOptions {
  /** Number of workloads that may roll at once. */
  readonly places?: number;
  /** Milliseconds without progress after which a workload loses its place: a broken workload must not stop all others. */
  readonly progressDeadlineMs?: number;
  /** The hours in which upgrades to a new default image begin; at any time by default. */
  readonly window?: UpgradeWindow;
  readonly now: () => Date;
}

/**
 * A semaphore for rollouts of the whole fleet: a change of every tenant restarts a few of them at a time. A workload holds its place
 * from the first replaced instance until all instances are up to date and ready. Keys are `namespace/workload`.
 */
export class RolloutLimit {
  readonly #options: RolloutLimitOptions;
  /** Time of the last progress, in milliseconds since the epoch. */
  readonly #held = new Map<string, number>();
  readonly #waiting = new Map<string, () => void>();

  constructor(options: RolloutLimitOptions) {
    this.#options = options;
  }

  get window(): UpgradeWindow | undefined {
    return this.#options.window;
  }

  get held(): number {
    this.#expire();
    return this.#held.size;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Reports whether the workload may take a place. If not, `whenFree` is called once a place may be free. */
  mayTake(key: string, whenFree: () => void): boolean {
    this.#expire();
    const may = this.#held.has(key) || this.#held.size < (this.#options.places ?? 5);
    if (may) this.#waiting.delete(key);
    else this.#waiting.set(key, whenFree);
    return may;
  }

  /** Takes a place, or records progress. The limit is not checked: `mayTake` did it, or the workload was found in mid-rollout. */
  take(key: string): void {
    this.#held.set(key, this.#options.now().getTime());
    this.#waiting.delete(key);
  }

  /** Frees the place of a workload that is settled or gone. */
  release(key: string): void {
    this.#waiting.delete(key);
    if (this.#held.delete(key)) this.#wake();
  }

  #expire(): void {
    const { progressDeadlineMs = 600_000, now } = this.#options;
    const before = this.#held.size;
    for (const [key, progress] of this.#held)
      if (now().getTime() - progress >= progressDeadlineMs) this.#held.delete(key);
    if (this.#held.size < before) this.#wake();
  }

  /** Wakes as many workloads as there are free places. A workload that comes too late waits again. */
  #wake(): void {
    const free = Math.max(0, (this.#options.places ?? 5) - this.#held.size);
    for (const [key, whenFree] of [...this.#waiting].slice(0, free)) {
      this.#waiting.delete(key);
      whenFree();
    }
  }
}

/** The hours of a week, in UTC, in which upgrades to a new default image begin. */
export interface UpgradeWindow {
  /** 0 is Sunday. */
  readonly days: readonly number[];
  readonly fromMinute: number;
  /** At most a day. */
  readonly minutes: number;
}
