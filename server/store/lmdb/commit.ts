import type { RootDatabase } from 'lmdb';
import { type CommitId, type Batch, type Key, type Outcome } from '../record-store.ts';
import { decodeCounter, encodeCounter } from '../commits.ts';
import { causeOf } from './errors.ts';
import { addCounts, readSequence, writeSequence } from './counts.ts';
import { RecordTally } from '../record-counts.ts';
import { type RecordTables, type Replaced, type Stored, storedOf } from './record-tables.ts';
import { closeSync, openSync, statfsSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
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
  readonly ballast?: Pick<Ballast, 'release' | 'isTight'> | undefined;
  /** Called before each transaction. Must not throw. */
  readonly begins?: () => void;
}

/**
 * Group commit: the batches that arrive during the flush of one transaction form the next transaction. A flush costs the same for one
 * batch as for a hundred.
 */
export class CommitQueue {
  readonly #root: RootDatabase<Buffer, Buffer>;
  readonly #tables: RecordTables;
  readonly #unavailable: (error: unknown) => StoreError;
  readonly #ballast: Pick<Ballast, 'release' | 'isTight'>;
  readonly #begins: () => void;
  readonly #recent = new RecentCommits();
  #waiting: Waiting[] = [];
  #scheduled = false;

  constructor(
    root: RootDatabase<Buffer, Buffer>,
    tables: RecordTables,
    unavailable: (error: unknown) => StoreError,
    { ballast = noBallast, begins = () => undefined }: CommitQueueOptions = {},
  ) {
    this.#root = root;
    this.#tables = tables;
    this.#unavailable = unavailable;
    this.#ballast = ballast;
    this.#begins = begins;
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
    if (this.#ballast.isTight() && !this.#keepWhatFrees()) return;
    this.#begins();
    try {
      // lmdb-js rolls back only a child transaction if a write in the middle fails.
      await this.#root.childTransaction(() => {
        group = this.#nextGroup();
        decided = this.#apply(group);
      });
    } catch (error) {
      const cause = this.#unavailable(await causeOf(error));
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

/** Returns true if the batch frees space when it is committed, or makes others free it. */
function frees({ batch }: Waiting): boolean {
  return batch.freesSpace === true || (batch.delete?.length ?? 0) > (batch.put?.length ?? 0);
}

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

/** A group of deletes copies some pages for each key before any page is free again. This has space for thousands of keys. */
const BALLAST_BYTES = 8 * 1024 * 1024;
const CHUNK = Buffer.alloc(1024 * 1024);
/** The result of a check for free space is used for this many milliseconds. */
const CHECK_INTERVAL = 100;

/**
 * Reserves disk space for deletes. LMDB changes a page by writing a copy, so a full disk could not delete either. The ballast is a file
 * of zeros that is removed when the disk is full. While it is absent and no space was freed, only batches that delete are accepted.
 *
 * Every thread has one of these objects; they share the file.
 */
export class Ballast {
  readonly #folder: string;
  readonly #file: string;
  readonly #tables: RecordTables;
  #judged = -Infinity;
  #tight = false;

  constructor(folder: string, tables: RecordTables) {
    this.#folder = folder;
    this.#file = join(folder, 'ballast');
    this.#tables = tables;
    if (!this.#isThere()) this.#place();
  }

  /** Removes the ballast. Returns false if there was none. */
  release(): boolean {
    this.#judged = -Infinity;
    try {
      unlinkSync(this.#file);
      return true;
    } catch {
      return false;
    }
  }

  /** Returns true while only batches that free space may be written. Restores the ballast when there is space again. */
  isTight(): boolean {
    if (this.#isThere()) return false;
    const now = performance.now();
    if (now - this.#judged < CHECK_INTERVAL) return this.#tight;
    this.#judged = now;
    if (freeOf(this.#folder).free >= 2 * BALLAST_BYTES && this.#place()) this.#tight = false;
    else this.#tight = this.space().free < BALLAST_BYTES;
    return this.#tight;
  }

  /** Returns the free space: that of the disk and the unused pages of the record file, without the space for the ballast. */
  space(): { readonly free: number; readonly total: number } {
    const { free, total } = freeOf(this.#folder);
    const owed = this.#isThere() ? 0 : BALLAST_BYTES;
    return { free: Math.max(0, free + this.#tables.reusableBytes() - owed), total };
  }

  #isThere(): boolean {
    return statSync(this.#file, { throwIfNoEntry: false })?.size === BALLAST_BYTES;
  }

  #place(): boolean {
    let file: number | undefined;
    try {
      file = openSync(this.#file, 'w', 0o600);
      for (let at = 0; at < BALLAST_BYTES; at += CHUNK.length) writeSync(file, CHUNK, 0, CHUNK.length, at);
      return this.#isThere();
    } catch {
      // There is no space for all of it.
      this.release();
      return false;
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }
}

/** A store without ballast, for tests and read-only tools. */
const noBallast = { release: () => false, isTight: () => false } as const;

/** Returns the free bytes and all bytes of the disk of a folder. */
export function freeOf(folder: string): { readonly free: number; readonly total: number } {
  const { bavail, blocks, bsize } = statfsSync(folder);
  return { free: bavail * bsize, total: blocks * bsize };
}
