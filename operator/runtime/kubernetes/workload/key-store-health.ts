import type { AskHealth, HealthRequest } from './store-health.ts';

/** Milliseconds between two requests to one key service. */
const pauseMs = 30_000;

interface KeyStoresOptions {
  readonly ask: AskHealth;
  /** Called when the state of a key store has changed. */
  readonly changed: (workload: string) => void;
}

interface Watch {
  request: HealthRequest;
  isAway: boolean;
  readonly timer: NodeJS.Timeout;
}

/**
 * Asks key services, now and then, whether their key stores answer. It is not a probe of a pod: a pod whose key store is away serves the keys that
 * it has in memory.
 */
export class KeyStores {
  readonly #options: KeyStoresOptions;
  readonly #watches = new Map<string, Watch>();

  constructor(options: KeyStoresOptions) {
    this.#options = options;
  }

  /** Returns whether the key store was away when it was asked last. It asks from now on, and calls `changed`. */
  isAway(workload: string, request: HealthRequest): boolean {
    const known = this.#watches.get(workload);
    if (known !== undefined) {
      known.request = request;
      return known.isAway;
    }
    const timer = setInterval(() => void this.#ask(workload), pauseMs).unref();
    this.#watches.set(workload, { request, isAway: false, timer });
    void this.#ask(workload);
    return false;
  }

  forget(workload: string): void {
    clearInterval(this.#watches.get(workload)?.timer);
    this.#watches.delete(workload);
  }

  close(): void {
    for (const workload of this.#watches.keys()) this.forget(workload);
  }

  async #ask(workload: string): Promise<void> {
    const watch = this.#watches.get(workload);
    if (watch === undefined) return;
    const isAway = await this.#answerTo(watch);
    if (isAway === undefined || isAway === watch.isAway || this.#watches.get(workload) !== watch) return;
    watch.isAway = isAway;
    this.#options.changed(workload);
  }

  /** A key service that does not answer, or answers for itself, says nothing about its key store. */
  async #answerTo({ request }: Watch): Promise<boolean | undefined> {
    try {
      const { status } = await this.#options.ask(request);
      if (status === 200) return false;
      return status === 502 || status === 504 ? true : undefined;
    } catch {
      return undefined;
    }
  }
}
