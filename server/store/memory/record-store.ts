import { checkBatch, decodeCounter, encodeCounter } from '../commits.ts';
import {
  closed,
  groupOf,
  type Batch,
  type CommitId,
  type Entry,
  type Key,
  type Outcome,
  type RecordStore,
  type ScanItem,
  type ScanRange,
} from '../record-store.ts';
import { endOf } from '../keys.ts';
import { type CrossingName, crossingsOf } from '../places.ts';
import { type Fault, Faults, turn } from './faults.ts';
import { StoreError } from '../store-error.ts';

/** Keeps records in memory under ordered keys. Keys are latin1 strings, whose order is that of the bytes. */
class SortedRecords<T> {
  readonly #keys: string[] = [];
  readonly #values = new Map<string, T>();

  get(key: string): T | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: T): void {
    if (!this.#values.has(key)) this.#keys.splice(this.#position(key), 0, key);
    this.#values.set(key, value);
  }

  delete(key: string): void {
    if (this.#values.delete(key)) this.#keys.splice(this.#position(key), 1);
  }

  /** Returns the first key at or after this one. */
  atOrAfter(key: string): string | undefined {
    return this.#keys[this.#position(key)];
  }

  /** Returns the last key before this one. */
  before(key: string): string | undefined {
    return this.#keys[this.#position(key) - 1];
  }

  /** Returns the number of keys before this one. */
  #position(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#keys[middle] ?? '') < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

interface Stored {
  readonly value: Buffer;
  readonly revision: number;
}

/** The simulated disk, which survives `crash()`. */
class Disk {
  readonly records = new SortedRecords<Stored>();
  readonly places: Places;
  readonly crossed = new Set<CrossingName>();
  readonly outcomes = new Map<CommitId, 'committed' | 'not-committed'>();
  sequence = 0;

  constructor(places: Places) {
    this.places = places;
  }
}

/**
 * How commits are held against the places of their records: the test has made records with ids of before slots, or its keys are none of the
 * server's.
 */
export type Places = 'checked' | 'with-ids-made-before' | 'unchecked';

/** A record store in memory, for tests. It fails as its `Faults` say, and refuses commits that cross places and are not on the list. */
export class MemoryRecordStore implements RecordStore {
  readonly faults: Faults;
  readonly #disk: Disk;
  #closed = false;

  constructor(options: { readonly faults?: Faults; readonly disk?: unknown; readonly places?: Places } = {}) {
    this.faults = options.faults ?? new Faults();
    this.#disk = options.disk instanceof Disk ? options.disk : new Disk(options.places ?? 'checked');
  }

  /** The entries of the list of crossing commits that commits have needed. */
  get crossed(): ReadonlySet<CrossingName> {
    return this.#disk.crossed;
  }

  /** Simulates a power cut: this store stops answering. Returns the store of the next start. */
  crash(): MemoryRecordStore {
    this.#closed = true;
    return new MemoryRecordStore({ faults: this.faults, disk: this.#disk });
  }

  /** Returns the store as a backup of this moment has it. */
  copy(): MemoryRecordStore {
    const disk = new Disk(this.#disk.places);
    for (let at = this.#disk.records.atOrAfter(''); at !== undefined; at = this.#disk.records.atOrAfter(`${at}\0`)) {
      const stored = this.#disk.records.get(at);
      if (stored !== undefined) disk.records.set(at, stored);
    }
    disk.sequence = this.#disk.sequence;
    return new MemoryRecordStore({ faults: this.faults, disk });
  }

  async get(key: Key): Promise<Entry | undefined> {
    await this.#begin();
    const stored = this.#disk.records.get(latin1(key));
    return stored === undefined ? undefined : entry(latin1(key), stored);
  }

  async getAll(keys: readonly Key[]): Promise<readonly (Entry | undefined)[]> {
    await this.#begin();
    return keys.map((key) => {
      const stored = this.#disk.records.get(latin1(key));
      return stored === undefined ? undefined : entry(latin1(key), stored);
    });
  }

  async *scan(range: ScanRange): AsyncIterable<ScanItem> {
    if (range.reverse === true && range.collapse !== undefined)
      throw new RangeError('a collapsing scan only goes forwards');
    const { records } = this.#disk;
    const start = latin1(range.start);
    const end = latin1(range.end);
    let left = range.limit ?? Infinity;
    let at = range.reverse === true ? end : start;
    for (; left > 0; left -= 1) {
      await this.#begin();
      const found = range.reverse === true ? records.before(at) : records.atOrAfter(at);
      if (found === undefined || (range.reverse === true ? found < start : found >= end)) return;
      const group = range.collapse && groupOf(Buffer.from(found, 'latin1'), range.collapse);
      at = group === undefined ? (range.reverse === true ? found : `${found}\0`) : latin1(endOf(group));
      if (group !== undefined) {
        yield { kind: 'group', prefix: group };
        continue;
      }
      const stored = records.get(found);
      if (stored !== undefined) yield { kind: 'entry', ...entry(found, stored) };
    }
  }

  async commit(batch: Batch): Promise<Outcome> {
    checkBatch(batch);
    this.#checkPlaces(batch);
    // The copy protects the commit from later changes of the caller's buffers.
    const own = copyOf(batch);
    await this.#begin();
    const answered = this.#disk.outcomes.get(own.id);
    if (answered === 'committed') throw new Error(`commit ${own.id} was already made: ids are used once`);
    const fault = this.faults.strike(['conflict', 'lostAfter', 'lostBefore', 'late'] satisfies Fault[]);
    const expected = own.expect?.[0];
    if (fault === 'conflict' && expected !== undefined) return { kind: 'conflict', key: expected.key };
    if (fault === 'lostBefore') return { kind: 'unknown' };
    if (fault === 'late') {
      void this.#takeEffectLater(own);
      return { kind: 'unknown' };
    }
    const outcome = this.#takeEffect(own);
    await this.faults.delay();
    if (this.#closed) throw closed('record');
    return fault === 'lostAfter' ? { kind: 'unknown' } : outcome;
  }

  async outcome(id: CommitId): Promise<'committed' | 'not-committed'> {
    await this.#begin();
    const known = this.#disk.outcomes.get(id);
    if (known !== undefined) return known;
    this.#disk.outcomes.set(id, 'not-committed');
    return 'not-committed';
  }

  close(): Promise<void> {
    this.#closed = true;
    return Promise.resolve();
  }

  #checkPlaces(batch: Batch): void {
    const { places, crossed } = this.#disk;
    if (places === 'unchecked') return;
    const idsMadeBefore = places === 'with-ids-made-before';
    for (const name of crossingsOf(batch, { idsMadeBefore })) crossed.add(name);
  }

  async #begin(): Promise<void> {
    if (this.#closed) throw closed('record');
    await this.faults.delay();
    if (this.#closed) throw closed('record');
    if (this.faults.strike(['unavailable']) !== undefined) {
      throw new StoreError('unreachable', 'the record store cannot be reached (injected)');
    }
  }

  async #takeEffectLater(batch: Batch): Promise<void> {
    for (let ticks = 1 + this.faults.upTo(20); ticks > 0; ticks -= 1) await turn();
    if (!this.#closed) this.#takeEffect(batch);
  }

  /** Applies a batch in one turn of the event loop, so that it is atomic. */
  #takeEffect(batch: Batch): Outcome {
    const disk = this.#disk;
    const { records } = disk;
    // `outcome` has returned `not-committed`, which is final.
    if (disk.outcomes.get(batch.id) === 'not-committed') return { kind: 'unknown' };
    for (const expectation of batch.expect ?? []) {
      const revision = records.get(latin1(expectation.key))?.revision;
      const expected = expectation.kind === 'absent' ? undefined : expectation.revision;
      if (revision !== expected) return { kind: 'conflict', key: expectation.key };
    }
    const added: { readonly key: string; readonly value: Buffer }[] = [];
    for (const { key, delta, max } of batch.add ?? []) {
      const sum = decodeCounter(records.get(latin1(key))?.value) + delta;
      if (max !== undefined && sum > max) return { kind: 'conflict', key };
      added.push({ key: latin1(key), value: encodeCounter(sum) });
    }
    disk.sequence += 1;
    const revision = disk.sequence;
    for (const { key, value } of batch.put ?? []) records.set(latin1(key), { value, revision });
    for (const key of batch.delete ?? []) records.delete(latin1(key));
    for (const { key, value } of added) records.set(key, { value, revision });
    disk.outcomes.set(batch.id, 'committed');
    return { kind: 'committed', revision };
  }
}

function latin1(key: Key): string {
  return key.toString('latin1');
}

function entry(key: string, stored: Stored): Entry {
  return { key: Buffer.from(key, 'latin1'), value: Buffer.from(stored.value), revision: stored.revision };
}

function copyOf(batch: Batch): Batch {
  return {
    id: batch.id,
    expect: (batch.expect ?? []).map((expectation) => ({ ...expectation, key: Buffer.from(expectation.key) })),
    put: (batch.put ?? []).map(({ key, value }) => ({ key: Buffer.from(key), value: Buffer.from(value) })),
    delete: (batch.delete ?? []).map((key) => Buffer.from(key)),
    add: (batch.add ?? []).map((addition) => ({ ...addition, key: Buffer.from(addition.key) })),
  };
}
