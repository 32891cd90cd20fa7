import type { RootDatabase } from 'lmdb';
import { type CommitId, type Batch, type Key, type Outcome } from '../record-store.ts';
import { decodeCounter, encodeCounter, freesSpace } from '../commits.ts';
import { addCounts, readSequence, writeSequence } from './counts.ts';
import { RecordTally } from '../record-counts.ts';
import { type RecordTables, type Replaced, type Stored, storedOf } from './record-tables.ts';
import type { Ballast } from './ballast.ts';
import { StoreError } from '../store-error.ts';

/** At least this many finished commits are remembered, and at most twice as many. Callers ask only for commits without an answer. */
const REMEMBERED = 8_192;

/** Remembers which commits of this handle are in flight, which took effect, and which are ruled out. */
class RecentCommits {
  readonly #onTheirWay = new Map<CommitId, Promise<unknown>>();
  /**
   * True for committed, false for ruled out. The older half is dropped as a whole, because deleting the oldest key of one map, commit by
   * commit, walks over the holes of the keys deleted before.
   */
  #settled = new Map<CommitId, boolean>();
  #older = new Map<CommitId, boolean>();

  /** Throws for an id that was used before, and for one whose `outcome` was `not-committed`. */
  begin(id: CommitId, arrival: Promise<unknown>): void {
    if (this.#onTheirWay.has(id) || this.#outcomeOf(id) !== undefined) {
      throw new Error(`commit ${id} was made or ruled out before: ids are used once`);
    }
    this.#onTheirWay.set(id, arrival);
  }

  /** A commit that did not take effect may be retried under its id until a caller asks for its outcome. */
  end(id: CommitId, committed: boolean): void {
    this.#onTheirWay.delete(id);
    if (committed) this.#remember(id, true);
  }

  /** Resolves when the commit is not in flight. */
  async arrival(id: CommitId): Promise<void> {
    await Promise.allSettled([this.#onTheirWay.get(id)]);
  }

  /** Resolves when every commit that is now in flight has an answer. */
  async arrivals(): Promise<void> {
    await Promise.allSettled(this.#onTheirWay.values());
  }

  /** Returns the outcome of a commit. An unknown commit is ruled out. */
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

/** The maximum size of the values in one transaction. More would spill its pages and delay the other batches. */
const GROUP_BYTES = 16 * 1024 * 1024;

interface Waiting {
  readonly batch: Batch;
  readonly puts: readonly { readonly key: Key; readonly stored: Stored; readonly length: number }[];
  readonly bytes: number;
  readonly settle: PromiseWithResolvers<Outcome>;
}

interface CommitQueueOptions {
  /** `isTight` may throw what LMDB throws. */
  readonly ballast?: Pick<Ballast, 'release' | 'isTight'> | undefined;
  /** Called before each transaction. Must not throw. */
  readonly begins?: () => void;
  /** Returns why no transaction can be written. Must not throw. */
  readonly fault?: () => StoreError | undefined;
}

/**
 * Group commit: the batches that arrive during the flush of one transaction form the next transaction. A flush costs the same for one
 * batch as for a hundred.
 */
export class CommitQueue {
  readonly #root: RootDatabase<Buffer, Buffer>;
  readonly #tables: RecordTables;
  readonly #unavailable: (error: unknown) => Promise<StoreError>;
  readonly #ballast: Pick<Ballast, 'release' | 'isTight'>;
  readonly #begins: () => void;
  readonly #fault: () => StoreError | undefined;
  readonly #recent = new RecentCommits();
  #waiting: Waiting[] = [];
  #scheduled = false;

  constructor(
    root: RootDatabase<Buffer, Buffer>,
    tables: RecordTables,
    unavailable: (error: unknown) => Promise<StoreError>,
    { ballast = noBallast, begins = () => undefined, fault = () => undefined }: CommitQueueOptions = {},
  ) {
    this.#root = root;
    this.#tables = tables;
    this.#unavailable = unavailable;
    this.#ballast = ballast;
    this.#begins = begins;
    this.#fault = fault;
  }

  commit(batch: Batch): Promise<Outcome> {
    const settle = Promise.withResolvers<Outcome>();
    this.#recent.begin(batch.id, settle.promise);
    let bytes = 0;
    const puts = (batch.put ?? []).map(({ key, value }, index) => {
      bytes += value.length;
      return { key, stored: storedOf(value, index), length: value.length };
    });
    this.#waiting.push({ batch, puts, bytes, settle });
    this.#schedule();
    return settle.promise;
  }

  async outcome(id: CommitId): Promise<'committed' | 'not-committed'> {
    // A commit in flight may still take effect, so this waits for it.
    await this.#recent.arrival(id);
    return this.#recent.settle(id);
  }

  /** Resolves when every batch accepted so far has an answer. */
  drained(): Promise<void> {
    return this.#recent.arrivals();
  }

  #refuse(waiting: Waiting, cause: StoreError): void {
    this.#recent.end(waiting.batch.id, false);
    waiting.settle.reject(cause);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // `#transact` answers every batch and never rejects.
    void this.#transact();
  }

  async #transact(): Promise<void> {
    let group: readonly Waiting[] = [];
    let decided: readonly Decided[] = [];
    const fault = this.#fault();
    if (fault !== undefined) return this.#refuseAll(fault);
    try {
      if (this.#ballast.isTight() && !this.#keepWhatFrees()) return;
      this.#begins();
      // lmdb-js rolls back only a child transaction if a write in the middle fails.
      await this.#root.childTransaction(() => {
        group = this.#nextGroup();
        decided = this.#apply(group);
      });
    } catch (error) {
      const cause = await this.#unavailable(error);
      // A transaction that never began has not taken its batches from the queue.
      const failed = group.length > 0 ? group : this.#nextGroup();
      const again = cause.code === 'full' && this.#ballast.release() ? failed.filter(frees) : [];
      for (const waiting of failed) if (!again.includes(waiting)) this.#refuse(waiting, cause);
      if (again.length === 0) return;
      this.#waiting.unshift(...again);
      this.#schedule();
      return;
    }
    // Conflicts are answered only now, because they may depend on batches of the same transaction.
    for (const { waiting, outcome, error } of decided) {
      this.#recent.end(waiting.batch.id, outcome?.kind === 'committed');
      if (outcome === undefined) waiting.settle.reject(error);
      else waiting.settle.resolve(outcome);
    }
  }

  #refuseAll(cause: StoreError): void {
    for (const waiting of this.#waiting.splice(0)) this.#refuse(waiting, cause);
    this.#scheduled = false;
  }

  /** Rejects the batches that need space. Returns false if no batch is left. */
  #keepWhatFrees(): boolean {
    const cause = new StoreError('full', 'no space is left for records: only deletes are accepted');
    const filling = this.#waiting.filter((waiting) => !frees(waiting));
    this.#waiting = this.#waiting.filter(frees);
    for (const waiting of filling) this.#refuse(waiting, cause);
    this.#scheduled = this.#waiting.length > 0;
    return this.#scheduled;
  }

  #nextGroup(): readonly Waiting[] {
    let bytes = 0;
    let count = 0;
    while (count < this.#waiting.length && (count === 0 || bytes < GROUP_BYTES)) {
      bytes += this.#waiting[count]?.bytes ?? 0;
      count += 1;
    }
    const group = this.#waiting.splice(0, count);
    this.#scheduled = false;
    if (this.#waiting.length > 0) setImmediate(() => this.#schedule());
    return group;
  }

  #apply(group: readonly Waiting[]): Decided[] {
    const before = readSequence(this.#root);
    const tally = new RecordTally();
    let { revision } = before;
    const decided = group.map((waiting): Decided => {
      const conflict = this.#conflictOf(waiting.batch);
      if (conflict !== undefined) return { waiting, outcome: { kind: 'conflict', key: conflict } };
      let added: readonly Added[] | Key;
      try {
        added = this.#addedOf(waiting.batch);
      } catch (error) {
        // This batch has not written yet, so the others of the group continue.
        return { waiting, outcome: undefined, error };
      }
      if (Buffer.isBuffer(added)) return { waiting, outcome: { kind: 'conflict', key: added } };
      revision += 1;
      for (const { key, stored, length } of waiting.puts) {
        forget(tally, key, this.#tables.put(key, stored, revision));
        tally.add(key, revision, length);
      }
      for (const key of waiting.batch.delete ?? []) forget(tally, key, this.#tables.remove(key));
      for (const { key, stored } of added) {
        forget(tally, key, this.#tables.put(key, stored, revision));
        tally.add(key, revision, COUNTER_BYTES);
      }
      return { waiting, outcome: { kind: 'committed', revision } };
    });
    if (revision > before.revision) {
      writeSequence(this.#root, { revision, counted: before.counted });
      if (before.counted) addCounts(this.#root, tally);
    }
    return decided;
  }

  #conflictOf(batch: Batch): Key | undefined {
    for (const expectation of batch.expect ?? []) {
      const revision = this.#tables.revision(expectation.key);
      const expected = expectation.kind === 'absent' ? undefined : expectation.revision;
      if (revision !== expected) return expectation.key;
    }
    return undefined;
  }

  /** Returns the new values, or the key of a counter that would be above its maximum. */
  #addedOf(batch: Batch): readonly Added[] | Key {
    const added: Added[] = [];
    for (const { key, delta, max } of batch.add ?? []) {
      const sum = decodeCounter(this.#tables.get(key)?.value) + delta;
      if (max !== undefined && sum > max) return key;
      // A counter has no chunks, so its index is unused.
      added.push({ key, stored: storedOf(encodeCounter(sum), 0) });
    }
    return added;
  }
}

const frees = ({ batch }: Waiting): boolean => freesSpace(batch);

/** The length of the value of a counter. */
const COUNTER_BYTES = 8;

function forget(tally: RecordTally, key: Key, replaced: Replaced | undefined): void {
  if (replaced !== undefined) tally.remove(key, replaced.revision, replaced.length);
}

interface Added {
  readonly key: Key;
  readonly stored: Stored;
}

interface Decided {
  readonly waiting: Waiting;
  readonly outcome: Outcome | undefined;
  readonly error?: unknown;
}

/** A store without ballast, for tests and read-only tools. */
const noBallast = { release: () => false, isTight: () => false } as const;
