interface Kept<T> {
  /** A promise while the value is loading. */
  value: T | Promise<T>;
  readonly group: string;
  readonly until: number;
  usesLeft: number;
}

/**
 * Caches values by name, each for a lifetime and a number of uses. The oldest value is dropped when there are too many. Concurrent
 * requests for a missing value wait for one load. A failed load is not cached. A loaded value is returned without a promise.
 */
export class ExpiringCache<T> {
  readonly #limits: { readonly lifetimeMs: number; readonly uses: number; readonly entries: number };
  readonly #clock: () => number;
  readonly #entries = new Map<string, Kept<T>>();

  constructor(
    limits: { readonly lifetimeMs: number; readonly uses: number; readonly entries: number },
    clock: () => number,
  ) {
    this.#limits = limits;
    this.#clock = clock;
  }

  get(name: string, group: string, load: () => Promise<T>): T | Promise<T> {
    const now = this.#clock();
    const known = this.#entries.get(name);
    if (known !== undefined && known.until > now && known.usesLeft > 0) {
      known.usesLeft -= 1;
      return known.value;
    }
    this.#entries.delete(name);
    const loading = load();
    const entry: Kept<T> = {
      value: loading,
      group,
      until: now + this.#limits.lifetimeMs,
      usesLeft: this.#limits.uses - 1,
    };
    this.#entries.set(name, entry);
    void this.#settle(name, entry, loading);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#limits.entries) break;
      this.#entries.delete(oldest);
    }
    return loading;
  }

  async #settle(name: string, entry: Kept<T>, loading: Promise<T>): Promise<void> {
    try {
      entry.value = await loading;
    } catch {
      if (this.#entries.get(name) === entry) this.#entries.delete(name);
    }
  }

  /** Drops every value of a group. */
  dropGroup(group: string): void {
    for (const [name, entry] of this.#entries) if (entry.group === group) this.#entries.delete(name);
  }
}
