/** Milliseconds after which a quarantined object is read again when a client asks for it. */
const AGAIN_AFTER_MS = 60_000;
const MAX_KNOWN = 1_000;

/** Decides when quarantined objects that clients ask for are read again: one at a time, and each at most once a minute. */
export class QuarantineCheckTimes {
  readonly #begun = new Map<string, number>();
  #running = false;

  /** Runs the check of the named object, unless another one runs or this one was checked a moment ago. A check that fails is due again. */
  async run(name: string, now: number, check: () => Promise<void>): Promise<void> {
    const last = this.#begun.get(name);
    if (this.#running || (last !== undefined && now - last < AGAIN_AFTER_MS && now >= last)) return;
    this.#running = true;
    if (this.#begun.size >= MAX_KNOWN) this.#begun.clear();
    this.#begun.set(name, now);
    try {
      await check();
    } catch {
      this.#begun.delete(name);
    } finally {
      this.#running = false;
    }
  }
}
