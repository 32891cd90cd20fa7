/** Milliseconds between looks at who waits too long: a limit is kept to about this. */
const tick = 100;

interface Waiting {
  readonly until: number;
  readonly limitMs: number;
  readonly giveUp: (limitMs: number) => void;
}

/** Limits to how long promises are waited for. One timer serves them all: thousands a second would each start and stop their own. */
export class TimeLimits {
  readonly #clock: () => number;
  readonly #waiting = new Set<Waiting>();
  #timer: NodeJS.Timeout | undefined;

  /** Monotonic milliseconds. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  get underWay(): number {
    return this.#waiting.size;
  }

  /** As the promise; rejects with the error where it takes longer. */
  async within<T>(limitMs: number, promise: Promise<T>, error: (limitMs: number) => Error): Promise<T> {
    const late = Promise.withResolvers<never>();
    const waiting: Waiting = {
      until: this.#clock() + limitMs,
      limitMs,
      giveUp: (limit) => late.reject(error(limit)),
    };
    this.#waiting.add(waiting);
    this.#timer ??= setInterval(() => this.#look(), tick).unref();
    try {
      return await Promise.race([promise, late.promise]);
    } finally {
      this.#waiting.delete(waiting);
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = this.#clock();
    for (const waiting of this.#waiting) {
      if (waiting.until > now) continue;
      this.#waiting.delete(waiting);
      waiting.giveUp(waiting.limitMs);
    }
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
