import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '../../platform/async/backoff.ts';
import type { Batch, Key } from '../store/record-store.ts';

/** An event that the target accepted. */
interface Delivered<Outcome> {
  readonly key: Key;
  readonly outcome: Outcome;
}

interface DeliveredEventsOptions<Outcome> {
  /** Makes a commit. Resolves with false after a conflict. */
  readonly commit: (batch: Omit<Batch, 'id'>) => Promise<boolean>;
  /** Adds what the outcomes change to the commit that removes their events, which `commit` makes. Without it there is nothing to add. */
  readonly settle?:
    | ((outcomes: readonly Outcome[], commit: (batch: Omit<Batch, 'id'>) => Promise<boolean>) => Promise<boolean>)
    | undefined;
  /** Reports whether a failure is of one event alone. Its event stays in the queue, and is delivered again. */
  readonly isOfEvent: (error: unknown) => boolean;
}

/** Events that one commit removes. More would hold up the commits of requests. */
const removedAtOnce = 128;
/** Milliseconds for which an event waits for others. A large object that is still sent does not hold up the states of small ones. */
const gatherMs = 50;
/** Attempts to change what clients change too. */
const attempts = 8;
const backoff = { firstMs: 2, maxMs: 100, jitter: 1 };

/** Removes delivered events from their queue, many in one commit: a commit for each would make the commits of requests wait. */
export class DeliveredEvents<Outcome> {
  readonly #options: DeliveredEventsOptions<Outcome>;
  #gathered: Delivered<Outcome>[] = [];
  #timer: NodeJS.Timeout | undefined;
  #committing: Promise<void> = Promise.resolve();
  #failure: { readonly error: unknown } | undefined;

  constructor(options: DeliveredEventsOptions<Outcome>) {
    this.#options = options;
  }

  add(key: Key, outcome: Outcome): void {
    this.#gathered.push({ key, outcome });
    if (this.#gathered.length >= removedAtOnce) this.#begin();
    else this.#timer ??= setTimeout(() => this.#begin(), gatherMs);
  }

  /** Resolves when all events are removed. Rejects with the error of the store. */
  async end(): Promise<void> {
    this.#begin();
    await this.#committing;
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  #begin(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const gathered = this.#gathered;
    this.#gathered = [];
    this.#committing = this.#after(this.#committing, gathered);
  }

  /** Two commits at a time might change one version twice. */
  async #after(earlier: Promise<void>, gathered: readonly Delivered<Outcome>[]): Promise<void> {
    await earlier;
    if (gathered.length === 0 || this.#failure !== undefined) return;
    try {
      await this.#remove(gathered);
    } catch (error) {
      this.#failure = { error };
    }
  }

  /** Changes that conflict together are made in halves, so that one version that clients change all the time holds up no other. */
  async #remove(delivered: readonly Delivered<Outcome>[], attempt = 1): Promise<void> {
    try {
      if (await this.#removeAtOnce(delivered)) return;
    } catch (error) {
      if (!this.#options.isOfEvent(error)) throw error;
      if (delivered.length === 1) return;
    }
    const half = Math.ceil(delivered.length / 2);
    if (delivered.length > 1) {
      await this.#remove(delivered.slice(0, half));
      await this.#remove(delivered.slice(half));
    } else if (attempt < attempts) {
      await sleep(backoffMs(attempt, backoff));
      await this.#remove(delivered, attempt + 1);
    }
  }

  #removeAtOnce(delivered: readonly Delivered<Outcome>[]): Promise<boolean> {
    const { commit, settle } = this.#options;
    const keys = delivered.map(({ key }) => key);
    const removing = (batch: Omit<Batch, 'id'>) => commit({ ...batch, delete: [...(batch.delete ?? []), ...keys] });
    if (settle === undefined) return removing({});
    return settle(
      delivered.map(({ outcome }) => outcome),
      removing,
    );
  }
}
