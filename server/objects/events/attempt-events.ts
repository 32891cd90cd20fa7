import type { EventHub, PlannedQueues } from '../context/event-hub.ts';

/**
 * The queues of one attempt of a commit. What full queues do not take is counted after the commit: an attempt that conflicts is made again.
 */
export class AttemptEvents implements PlannedQueues {
  readonly #hub: EventHub;
  /** The answers that were read for this attempt. */
  readonly #full = new Map<string, boolean>();
  readonly #asked = new Set<string>();
  #dropped: string[] = [];

  constructor(hub: EventHub) {
    this.#hub = hub;
  }

  /** Takes for granted that a queue of which nothing is known takes the event. `plan` reads its state afterwards. */
  isFull(target: string): boolean {
    const known = this.#full.get(target);
    if (known === undefined && !this.#hub.takes(target)) this.#asked.add(target);
    return known ?? false;
  }

  countDropped(target: string): void {
    this.#dropped.push(target);
  }

  /**
   * Plans a commit. Where it would queue an event of whose queue nothing is known, the state of that queue is read, and the commit is planned
   * again if it is full. So a thread that rested drops no event for what it knew before.
   */
  async plan<T>(make: () => T | Promise<T>): Promise<T> {
    for (;;) {
      this.#dropped = [];
      const made = await make();
      if (!(await this.#readsFull())) return made;
    }
  }

  /** Reads the states that were asked for. Resolves with true if one of these queues is full. */
  async #readsFull(): Promise<boolean> {
    const asked = [...this.#asked];
    this.#asked.clear();
    const read = await Promise.all(asked.map((target) => this.#hub.isFull(target)));
    for (const [at, target] of asked.entries()) this.#full.set(target, read[at] === true);
    return read.includes(true);
  }

  onCommitted(): void {
    for (const target of this.#dropped) this.#hub.countDropped(target);
  }
}
