export interface AttemptLimit {
  /** Attempts in one window. */
  readonly most: number;
  readonly windowMs: number;
}

/**
 * Counts attempts by key in windows of time. Each thread counts for itself: this slows guessing down to nothing, it is not a
 * quota. What it remembers is bounded; when full, the oldest is forgotten.
 */
export class Attempts {
  readonly #limit: AttemptLimit;
  readonly #counts = new Map<string, { begun: number; count: number }>();
  static readonly remembered = 10_000;

  constructor(limit: AttemptLimit) {
    this.#limit = limit;
  }

  /** Seconds to wait before the next attempt; 0 when it may be made. */
  waitSeconds(key: string, nowMs: number): number {
    const entry = this.#current(key, nowMs);
    if (entry === undefined || entry.count < this.#limit.most) return 0;
    return Math.max(1, Math.ceil((entry.begun + this.#limit.windowMs - nowMs) / 1000));
  }

  count(key: string, nowMs: number): void {
    const entry = this.#current(key, nowMs) ?? { begun: nowMs, count: 0 };
    entry.count += 1;
    this.#counts.delete(key);
    this.#counts.set(key, entry);
    if (this.#counts.size <= Attempts.remembered) return;
    for (const oldest of this.#counts.keys()) {
      this.#counts.delete(oldest);
      break;
    }
  }

  forget(key: string): void {
    this.#counts.delete(key);
  }

  #current(key: string, nowMs: number): { begun: number; count: number } | undefined {
    const entry = this.#counts.get(key);
    if (entry === undefined || nowMs - entry.begun >= this.#limit.windowMs) return undefined;
    return entry;
  }
}
