import { randomBytes } from 'node:crypto';
import type { CommitId, Expectation, Key, Outcome, Revision, ScanRange, RecordStore } from '../store/record-store.ts';
import { commitOnce } from '../store/commits.ts';
import { key, type KeyPart, within } from '../store/keys.ts';
import { StoreError } from '../store/store-error.ts';
import { backendKeyRecord, openBackendKey, isPlain, openValue, plainValue, sealValue } from './backend-key.ts';
import type { KeySource } from './key-source.ts';

/**
 * Records whose values are sealed under the default key once encryption is on: identities, settings, sign-in sessions. Callers see
 * plain values. Every key comes from `sealedKey()`. No method may be called before `start()` has resolved.
 *
 * Methods throw `StoreError` if a value or the backend's key cannot be opened, and the errors of the `RecordStore`.
 *
 * @example
 *     const sessions = sealedRecords({ records, keys });
 *     await sessions.start();
 *     await sessions.put(sealedKey('session', id), value, { kind: 'absent' });
 */
export interface SealedRecordStore {
  /**
   * Opens the backend's data key, turns sealing on if a key service is configured, and seals plain records. The caller repeats it with
   * backoff while it rejects with a `KeyServiceError` of code `unavailable`. A `StoreError` says what an administrator must do.
   *
   * With `turnOn` false, sealing that is off stays off, because another server over the same records has no key service yet. The caller
   * may call it again later. If another server or thread turns sealing on, this store follows.
   */
  start(options?: { readonly turnOn: boolean }): Promise<void>;
  /** True if values are sealed. False before `start`. */
  readonly sealing: boolean;
  /**
   * Returns the data key that seals the values; other keys are derived from it. Returns undefined while sealing is off. Each call then
   * reads the record again, since another server or thread may have turned sealing on.
   */
  backendKey(): Buffer | Promise<Buffer | undefined>;

  get(key: Key): Promise<SealedEntry | undefined>;
  /** Returns the revision of a record without opening it, or undefined if there is none. */
  revision(key: Key): Promise<Revision | undefined>;
  /** Scans in the order of the keys, without `collapse`. */
  scan(range: Omit<ScanRange, 'collapse'>): AsyncIterable<SealedEntry>;
  /** Writes a value. Without an expectation the last writer wins. Lost acknowledgements are resolved. */
  put(key: Key, value: Buffer, expectation?: SealedExpectation): Promise<'committed' | 'conflict'>;
  delete(key: Key, expectation?: SealedExpectation): Promise<'committed' | 'conflict'>;
  /** Does the same as `RecordStore.commit`, with plain values. */
  commit(batch: SealedBatch): Promise<Outcome>;
  outcome(id: CommitId): Promise<'committed' | 'not-committed'>;
}

export interface SealedEntry {
  readonly key: Key;
  readonly value: Buffer;
  readonly revision: Revision;
}

/** Expects the revision that was read, or that the record is absent. */
type SealedExpectation = { readonly kind: 'revision'; readonly revision: Revision } | { readonly kind: 'absent' };

interface SealedBatch {
  readonly id: CommitId;
  readonly expect?: readonly Expectation[];
  readonly put?: readonly { readonly key: Key; readonly value: Buffer }[];
  readonly delete?: readonly Key[];
}

/** Makes the key of a sealed record, e.g. `sealedKey('session', id)`. A `SealedRecordStore` accepts no other keys. */
export function sealedKey(...parts: readonly KeyPart[]): Key {
  return key('s', ...parts);
}

/** Returns the range of all sealed records whose keys begin with these parts. */
export function sealedWithin(...parts: readonly KeyPart[]): { readonly start: Buffer; readonly end: Buffer } {
  return within('s', ...parts);
}
const everySealed = within('s');

interface SealedRecordsOptions {
  readonly records: RecordStore;
  /** With `noKeySource`, values stay plain, and `start` rejects if they are sealed already. */
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
   * Commits a batch with sealed values if sealing is on. A batch with plain values expects that sealing is still off: another server or
   * thread may have turned it on, and no plain value may appear after it has sealed the existing ones.
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
    // Otherwise an attacker who can write to the disk could add an identity without the key.
    if (!backend.plainAllowed && isPlain(entry.value)) {
      throw new StoreError(
        'not-sealed',
        'a record is plain although every record was sealed: it was not written by a server',
      );
    }
    return { key: entry.key, value: openValue(entry.value, entry.key, backend.key), revision: entry.revision };
  }

  /** Opens the key that another server or thread has made. Plain values are accepted until the next start: it may still be sealing. */
  #openBackend(): Promise<void> {
    return this.start({ turnOn: false });
  }

  /** Seals the plain records. After an interruption the next start continues, since it skips sealed records. */
  async #sealWhatIsPlain(backendKey: Buffer): Promise<void> {
    for (let plain = true; plain;) {
      plain = false;
      for await (const item of this.#records.scan(everySealed)) {
        if (item.kind !== 'entry' || !isPlain(item.value)) continue;
        plain = true;
        const value = sealValue(openValue(item.value, item.key, backendKey), item.key, backendKey, this.#random);
        // A conflict means that another thread sealed or changed the record: the next pass reads it again.
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
