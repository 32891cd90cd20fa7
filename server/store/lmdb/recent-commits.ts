import type { CommitId } from '../record-store.ts';

/** So many settled commits at least are remembered, and at most twice as many; nobody has to ask for one that was answered. */
const REMEMBERED = 8_192;

/** Which commits of this handle are on their way, which took effect and which never may. */
export class RecentCommits {
  readonly #onTheirWay = new Map<CommitId, Promise<unknown>>();
  /**
   * True for committed, false for refused for ever; the older half is dropped as a whole. Taking the oldest out of one map, commit by
   * commit, walks over the holes that the ones before it left.
   */
  #settled = new Map<CommitId, boolean>();
  #older = new Map<CommitId, boolean>();

  /** Throws for an id used before, and for one whose `outcome` was already answered `not-committed`. */
  begin(id: CommitId, arrival: Promise<unknown>): void {
    if (this.#onTheirWay.has(id) || this.#outcomeOf(id) !== undefined) {
      throw new Error(`commit ${id} was made or ruled out before: ids are used once`);
    }
    this.#onTheirWay.set(id, arrival);
  }

  /** A commit that did not take effect may be tried again under its id, until somebody asks for its outcome. */
  end(id: CommitId, committed: boolean): void {
    this.#onTheirWay.delete(id);
    if (committed) this.#remember(id, true);
  }

  /** Resolves when the commit, if it is on its way, has been answered. */
  async arrival(id: CommitId): Promise<void> {
    await Promise.allSettled([this.#onTheirWay.get(id)]);
  }

  /** Resolves when every commit now on its way has been answered. */
  async arrivals(): Promise<void> {
    await Promise.allSettled(this.#onTheirWay.values());
  }

  /** From now on this is the commit's outcome. */
  settle(id: CommitId): 'committed' | 'not-committed' {
    const known = this.#outcomeOf(id);
    if (known === true) return 'committed';
    if (known === undefined) this.#remember(id, false);
    return 'not-committed';
  }

  #outcomeOf(id: CommitId): boolean | undefined {
    return this.#settled.get(id) ?? this.#older.get(id);
  }

  #remember(id: CommitId, committed: boolean): void {
    this.#settled.set(id, committed);
    if (this.#settled.size < REMEMBERED) return;
    this.#older = this.#settled;
    this.#settled = new Map();
  }
}
