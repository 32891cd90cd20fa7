/** A name below the watched place. The consumer looks at what is there now, so that a name which changed several times comes once. */
export interface Change {
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly time: number;
}

/** Milliseconds. A file that is being written changes many times. */
const quietFor = 250;

/** More names than this are forgotten, and everything is compared again. */
const maxWaiting = 100_000;

/** Collects changes until the consumer takes them, each when its name has been quiet for a while. */
export class ChangeQueue {
  readonly #waiting = new Map<string, number>();
  readonly #now: () => number;
  #wake: (() => void) | undefined;
  #failure: { readonly error: unknown } | undefined;
  #isIncomplete = false;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  add(name: string): void {
    // The name moves to the end.
    this.#waiting.delete(name);
    this.#waiting.set(name, this.#now());
    if (this.#waiting.size > maxWaiting) this.loseTrack();
    this.#wake?.();
  }

  /** Forgets all names, since the watcher does not know what changed. */
  loseTrack(): void {
    this.#waiting.clear();
    this.#isIncomplete = true;
    this.#wake?.();
  }

  /** Ends the changes. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake?.();
  }

  /** Returns when all names have to be compared again. @throws the error of `fail` */
  async *changes(signal: AbortSignal): AsyncGenerator<Change, void, undefined> {
    for (;;) {
      signal.throwIfAborted();
      if (this.#failure !== undefined) throw this.#failure.error;
      if (this.#isIncomplete) {
        this.#isIncomplete = false;
        return;
      }
      const [oldest] = this.#waiting;
      const wait = oldest === undefined ? undefined : oldest[1] + quietFor - this.#now();
      if (oldest === undefined || wait === undefined || wait > 0) {
        await this.#untilChange(signal, wait);
        continue;
      }
      const [name, time] = oldest;
      this.#waiting.delete(name);
      yield { name, time };
    }
  }

  async #untilChange(signal: AbortSignal, milliseconds: number | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const wake = (): void => resolve();
    signal.addEventListener('abort', wake, { once: true });
    // Without a timer the process would end while it waits for the server.
    const timer = setTimeout(resolve, Math.min(milliseconds ?? 60_000, 60_000));
    await promise;
    clearTimeout(timer);
    signal.removeEventListener('abort', wake);
    this.#wake = undefined;
  }
}
