import { randomBytes } from 'node:crypto';
import { commitOnce } from '../store/commit-once.ts';
import { key, type KeyPart, within } from '../store/keys.ts';
import type { Key, Outcome, RecordStore } from '../store/record-store.ts';
import { backendKeyRecord, openBackendKey } from './backend-key.ts';
import type { KeySource } from './key-source.ts';
import {
  type SealedBatch,
  type SealedEntry,
  type SealedExpectation,
  type SealedRecordStore,
  SealedRecordsError,
} from './sealed-record-store.ts';
import { isPlain, openValue, plainValue, sealValue } from './sealed-value.ts';

/** The key of a sealed record: every key that a `SealedRecordStore` takes is made here, e.g. `sealedKey('session', id)`. */
export function sealedKey(...parts: readonly KeyPart[]): Key {
  return key('s', ...parts);
}

/** The range of every sealed record whose first parts are these. */
export function sealedWithin(...parts: readonly KeyPart[]): { readonly start: Buffer; readonly end: Buffer } {
  return within('s', ...parts);
}
const everySealed = within('s');

export interface SealedRecordsOptions {
  readonly records: RecordStore;
  /** `noKeySource` keeps values plain, and refuses to start where they are sealed already. */
  readonly keys: KeySource;
  readonly random?: (size: number) => Buffer;
}

export function sealedRecords(options: SealedRecordsOptions): SealedRecordStore {
  return new SealedRecords(options);
}

class SealedRecords implements SealedRecordStore {
  readonly #records: RecordStore;
  readonly #keys: KeySource;
  readonly #random: (size: number) => Buffer;
  #backend: { readonly key: Buffer | undefined; readonly plainAllowed: boolean } | undefined;

  constructor(options: SealedRecordsOptions) {
    this.#records = options.records;
    this.#keys = options.keys;
    this.#random = options.random ?? randomBytes;
  }

  get sealing(): boolean {
    return this.#backend?.key !== undefined;
  }

  backendKey(): Buffer | Promise<Buffer | undefined> {
    return this.#backend?.key ?? this.#openBackend().then(() => this.#backend?.key);
  }

  async start({ turnOn } = { turnOn: true }): Promise<void> {
    const opened = await openBackendKey(this.#records, this.#keys, this.#random, turnOn);
    if (opened.key === undefined) {
      this.#backend = { key: undefined, plainAllowed: true };
      return;
    }
    if (!opened.everythingSealed && turnOn) {
      await this.#sealWhatIsPlain(opened.key);
      await opened.markEverythingSealed();
    }
    this.#backend = { key: opened.key, plainAllowed: !(opened.everythingSealed || turnOn) };
  }

  async get(key: Key): Promise<SealedEntry | undefined> {
    checkKey(key);
    const entry = await this.#records.get(key);
    return entry === undefined ? undefined : this.#open(entry);
  }

  async revision(key: Key): Promise<number | undefined> {
    checkKey(key);
    return (await this.#records.get(key))?.revision;
  }

  async *scan(range: Parameters<SealedRecordStore['scan']>[0]): AsyncIterable<SealedEntry> {
    checkRange(range);
    for await (const item of this.#records.scan(range)) if (item.kind === 'entry') yield await this.#open(item);
  }

  put(key: Key, value: Buffer, expectation?: SealedExpectation): Promise<'committed' | 'conflict'> {
    checkKey(key);
    return this.#change(key, expectation, { put: [{ key, value }] });
  }

  delete(key: Key, expectation?: SealedExpectation): Promise<'committed' | 'conflict'> {
    checkKey(key);
    return this.#change(key, expectation, { delete: [key] });
  }

  async commit(batch: SealedBatch): Promise<Outcome> {
    for (const { key } of batch.expect ?? []) checkKey(key);
    for (const key of batch.delete ?? []) checkKey(key);
    return this.#sealing(batch, (sealed) => this.#records.commit(sealed));
  }

  outcome(id: string) {
    return this.#records.outcome(id);
  }

  async #change(
    key: Key,
    expectation: SealedExpectation | undefined,
    change: Pick<SealedBatch, 'put' | 'delete'>,
  ): Promise<'committed' | 'conflict'> {
    const expect = expectation === undefined ? [] : [{ ...expectation, key }];
    const outcome = await this.#sealing({ expect, ...change }, (sealed) =>
      commitOnce(this.#records, sealed, this.#random),
    );
    return outcome.kind === 'committed' ? 'committed' : 'conflict';
  }

  /**
   * Commits a batch with its values sealed, if sealing is on. Plain values expect that it is off at that moment: another server or
   * thread may have turned it on, and nothing plain may appear after it has sealed what there was.
   */
  async #sealing<B extends Omit<SealedBatch, 'id'>, O extends { readonly kind: string; readonly key?: Key }>(
    batch: B,
    commit: (sealed: B) => Promise<O>,
  ): Promise<O> {
    const { key } = this.#started();
    const put = (batch.put ?? []).map((one) => ({ key: one.key, value: this.#seal(one.key, one.value) }));
    if (key !== undefined || put.length === 0) return commit({ ...batch, put });
    const expect = [...(batch.expect ?? []), { kind: 'absent' as const, key: backendKeyRecord }];
    const outcome = await commit({ ...batch, put, expect });
    if (outcome.kind !== 'conflict' || outcome.key?.equals(backendKeyRecord) !== true) return outcome;
    await this.#openBackend();
    return this.#sealing(batch, commit);
  }

  #started() {
    if (this.#backend === undefined) throw new Error('the sealed records are used before start() has resolved');
    return this.#backend;
  }

  #seal(key: Key, value: Buffer): Buffer {
    checkKey(key);
    const backend = this.#started();
    return backend.key === undefined ? plainValue(value) : sealValue(value, key, backend.key, this.#random);
  }

  async #open(entry: SealedEntry): Promise<SealedEntry> {
    if (this.#started().key === undefined && !isPlain(entry.value)) await this.#openBackend();
    const backend = this.#started();
    // Otherwise who can write the disk could plant an identity without knowing the key.
    if (!backend.plainAllowed && isPlain(entry.value)) {
      throw new SealedRecordsError(
        'not-sealed',
        'a record is plain although every record was sealed: it was put there by hand',
      );
    }
    return { key: entry.key, value: openValue(entry.value, entry.key, backend.key), revision: entry.revision };
  }

  /** Sealing was turned on by another server or thread. Plain values are taken until the next start: that one may be at it still. */
  #openBackend(): Promise<void> {
    return this.start({ turnOn: false });
  }

  /** Interrupted anywhere, it goes on at the next start: what is sealed already is left alone. */
  async #sealWhatIsPlain(backendKey: Buffer): Promise<void> {
    for (let plain = true; plain;) {
      plain = false;
      for await (const item of this.#records.scan(everySealed)) {
        if (item.kind !== 'entry' || !isPlain(item.value)) continue;
        plain = true;
        const value = sealValue(openValue(item.value, item.key, backendKey), item.key, backendKey, this.#random);
        // A conflict means that another thread sealed or changed it: the next pass looks again.
        const expect = [{ kind: 'revision' as const, key: item.key, revision: item.revision }];
        await commitOnce(this.#records, { expect, put: [{ key: item.key, value }] }, this.#random);
      }
    }
  }
}

function checkKey(key: Key): void {
  if (key.compare(everySealed.start) < 0 || key.compare(everySealed.end) >= 0) {
    throw new Error('the key of a sealed record is made by sealedKey()');
  }
}

function checkRange(range: { readonly start: Buffer; readonly end: Buffer }): void {
  if (range.start.compare(everySealed.start) < 0 || range.end.compare(everySealed.end) > 0) {
    throw new Error('the range of sealed records is made by sealedWithin()');
  }
}
