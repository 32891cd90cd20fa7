import type { UpgradeWindow } from './upgrade-window.ts';

export interface RolloutLimitOptions {
  /** Workloads that may roll at once. */
  readonly places?: number;
  /** Milliseconds without progress after which a workload gives its place back: one that stays broken must not stop all others. */
  readonly patienceMs?: number;
  /** When upgrades to a new default image begin; at any time without it. */
  readonly window?: UpgradeWindow;
  readonly now: () => Date;
}

/**
 * The brake on the whole fleet: a change that concerns every tenant restarts a few of them at a time. A workload holds its place from
 * the first instance that is replaced until all are up to date and ready. Keys are `namespace/workload`.
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

  /** Whether `take` would succeed. Where not, `whenFree` is called once a place may be free. */
  mayTake(key: string, whenFree: () => void): boolean {
    this.#expire();
    const may = this.#held.has(key) || this.#held.size < (this.#options.places ?? 5);
    if (may) this.#waiting.delete(key);
    else this.#waiting.set(key, whenFree);
    return may;
  }

  /** Takes a place, or tells of progress. The limit is not asked: `mayTake` did, or the workload was found in mid-rollout. */
  take(key: string): void {
    this.#held.set(key, this.#options.now().getTime());
    this.#waiting.delete(key);
  }

  /** The workload is settled, or gone. */
  release(key: string): void {
    this.#waiting.delete(key);
    if (this.#held.delete(key)) this.#wake();
  }

  #expire(): void {
    const { patienceMs = 600_000, now } = this.#options;
    const before = this.#held.size;
    for (const [key, progress] of this.#held) if (now().getTime() - progress >= patienceMs) this.#held.delete(key);
    if (this.#held.size < before) this.#wake();
  }

  /** As many as there are places now; who comes too late waits again. */
  #wake(): void {
    const free = Math.max(0, (this.#options.places ?? 5) - this.#held.size);
    for (const [key, whenFree] of [...this.#waiting].slice(0, free)) {
      this.#waiting.delete(key);
      whenFree();
    }
  }
}
