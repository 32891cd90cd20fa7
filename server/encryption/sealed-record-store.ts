import type { CommitId, Expectation, Key, Outcome, Revision, ScanRange } from '../store/record-store.ts';

/**
 * Records whose values are sealed under the default key from the moment encryption is on: identities, settings, sign-in sessions.
 * Callers see plain values. Every key is made by `sealedKey()`; nothing may be asked before `start()` has resolved.
 *
 * Errors: `SealedRecordsError` where a value or the backend's key cannot be opened; what the `RecordStore` throws.
 */
export interface SealedRecordStore {
  /**
   * Opens the backend's data key, turns sealing on where a key service is configured, and seals what is still plain. To be repeated
   * with backoff while it rejects with a `KeySourceError` of code `unavailable`; a `SealedRecordsError` says what a person must do.
   *
   * With `turnOn` false, sealing that is off stays off for now: another server, which shares the records, has no key service yet. It
   * may be called again later. What another server or thread turns on is noticed by itself.
   */
  start(options?: { readonly turnOn: boolean }): Promise<void>;
  /** Whether values are sealed; false before `start`. */
  readonly sealing: boolean;
  /**
   * The data key that seals the values, from which other keys are derived; undefined while sealing is off. Looked for again then: another
   * server or thread may have turned it on.
   */
  backendKey(): Buffer | Promise<Buffer | undefined>;

  get(key: Key): Promise<SealedEntry | undefined>;
  /** Whether and when a record changed, without opening it; undefined where there is none. */
  revision(key: Key): Promise<Revision | undefined>;
  /** In the order of the keys; `collapse` is not offered. */
  scan(range: Omit<ScanRange, 'collapse'>): AsyncIterable<SealedEntry>;
  /** Without an expectation, the last writer wins. A lost acknowledgement is resolved inside. */
  put(key: Key, value: Buffer, expectation?: SealedExpectation): Promise<'committed' | 'conflict'>;
  delete(key: Key, expectation?: SealedExpectation): Promise<'committed' | 'conflict'>;
  /** As `RecordStore.commit`, with plain values. */
  commit(batch: SealedBatch): Promise<Outcome>;
  outcome(id: CommitId): Promise<'committed' | 'not-committed'>;
}

export interface SealedEntry {
  readonly key: Key;
  readonly value: Buffer;
  readonly revision: Revision;
}

/** The revision that was read, or that there is none yet. */
export type SealedExpectation =
  { readonly kind: 'revision'; readonly revision: Revision } | { readonly kind: 'absent' };

export interface SealedBatch {
  readonly id: CommitId;
  readonly expect?: readonly Expectation[];
  readonly put?: readonly { readonly key: Key; readonly value: Buffer }[];
  readonly delete?: readonly Key[];
}

/** `key-service-needed`: sealed before, no key service configured now. `wrong-key`: the default key is not the one that sealed. */
export type SealedRecordsErrorCode = 'key-service-needed' | 'wrong-key' | 'newer-format' | 'not-sealed';

export class SealedRecordsError extends Error {
  override readonly name = 'SealedRecordsError';
  readonly code: SealedRecordsErrorCode;
  constructor(code: SealedRecordsErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
