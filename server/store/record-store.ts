import type { RecordCount } from './record-counts.ts';
import { StoreError } from './store-error.ts';

/**
 * The server keeps all of its state as records under ordered keys and changes them by conditional batches. Code above this interface
 * does not depend on the engine.
 *
 * Every engine guarantees this (`record-store.conformance.ts` tests it):
 * - keys are bytes, ordered as bytes; values are bytes of up to 16 MiB; keys of up to 1,900 bytes;
 * - a read sees every commit that was answered before the read began, whichever thread or replica answered it;
 * - a read never returns what is not durable yet, and a commit answered `committed` survives a power cut;
 * - a commit is all or nothing, and its expectations hold at the moment it takes effect (no write skew between two batches that
 *   expect a key the other one changes);
 * - the revision of a key grows with every change of it, also across its deletion.
 *
 * @example Change a record that no other writer has changed since it was read.
 *     const name = key('bucket', 'photos');
 *     const entry = await records.get(name);
 *     const expect = entry === undefined ? { kind: 'absent', key: name } : { kind: 'revision', key: name, revision: entry.revision };
 *     const outcome = await commitOnce(records, { expect: [expect], put: [{ key: name, value }] }, randomBytes);
 *     if (outcome.kind === 'conflict') retry();
 */
export interface RecordStore {
  get(key: Key): Promise<Entry | undefined>;

  /** Returns the entries of several keys as of one moment, in the order of `keys`. A remote engine needs one round trip. */
  getAll(keys: readonly Key[]): Promise<readonly (Entry | undefined)[]>;

  /**
   * Returns entries in the order of their keys. A scan is not a snapshot: a long one may see changes made after it began.
   *
   * @example List the names below a folder: objects, and one group for each subfolder.
   *     const prefix = partialPrefix('object', bucket, 'photos/');
   *     const range = { start: prefix, end: endOf(prefix), collapse: { prefix, delimiter: Buffer.from('/') } };
   *     for await (const item of records.scan(range)) show(item.kind === 'group' ? item.prefix : item.key);
   */
  scan(range: ScanRange): AsyncIterable<ScanItem>;

  /**
   * Does the same in pages, for engines that read many records at once. A promise for each record costs as much as reading it. A page is
   * a snapshot; the next one may be newer.
   */
  scanPages?(range: ScanRange): AsyncIterable<readonly ScanItem[]>;

  commit(batch: Batch): Promise<Outcome>;

  /**
   * Says whether the commit with this id took effect, for a caller that got `unknown`. Engines remember commits for an hour.
   * `not-committed` is final: a commit that is still in flight can no longer take effect.
   */
  outcome(id: CommitId): Promise<'committed' | 'not-committed'>;

  /** Returns the free and total bytes of the disk that holds the records, if the engine knows them. */
  space?(): Promise<{ readonly free: number; readonly total: number } | undefined>;

  /** Rejects with `StoreError` while a commit would fail because the folder of the records is away or unusable. Only engines on a local disk have this. */
  check?(): Promise<void>;

  /**
   * Copies all records as of one moment into a new folder. The copy is durable when the promise resolves. Only engines on a local disk
   * have this; the copy is opened by the same engine.
   */
  backup?(folder: string): Promise<void>;

  /**
   * Returns the counts of the records by group, which each commit changes with its records. Undefined where a server without counts wrote some
   * of them.
   */
  counts?(): Promise<readonly RecordCount[] | undefined>;

  /**
   * Returns the counts with those of the records that are there at the same moment, by the engine's own sums. It reads all keys. An engine without
   * it is counted from outside, by `RecordTally`. A database whose commits never change counts is named by `never`.
   */
  counted?(): Promise<
    | { readonly counts: readonly RecordCount[]; readonly found: readonly RecordCount[] }
    | { readonly never: string }
    | undefined
  >;

  /** Counts all records again: an administrator goes on with what is there. An engine that refuses to start on lost records does not have this. */
  recount?(): Promise<void>;

  close(): Promise<void>;
}

/** A key from `key()` of `keys.ts`, or a bound from `prefixOf()` or `after()`. */
export type Key = Buffer;

/** Grows with every change of its key; comparable only between entries of one key. */
export type Revision = number;

export interface Entry {
  readonly key: Key;
  readonly value: Buffer;
  readonly revision: Revision;
}

export interface ScanRange {
  /** Inclusive lower bound. */
  readonly start: Key;
  /** Exclusive upper bound. */
  readonly end: Key;
  /** At most this many items (entries and groups together). */
  readonly limit?: number;
  readonly reverse?: boolean;
  /**
   * Keys that begin with `prefix` and contain `delimiter` after it come as one group, whose name ends with the delimiter; the
   * engine skips the rest of a group without reading it. Only forwards.
   */
  readonly collapse?: Collapse;
}

export type ScanItem = ({ readonly kind: 'entry' } & Entry) | { readonly kind: 'group'; readonly prefix: Buffer };

/** 16 random bytes in hexadecimal. The caller makes the id and recognises its own commit by it after a lost acknowledgement. */
export type CommitId = string;

export interface Batch {
  readonly id: CommitId;
  readonly expect?: readonly Expectation[];
  readonly put?: readonly { readonly key: Key; readonly value: Buffer }[];
  readonly delete?: readonly Key[];
  /** Adds to counters: 64-bit signed integers, big-endian in the value. An absent key counts as 0. Additions commute. */
  readonly add?: readonly Addition[];
  /** True for a small batch that leads to room. A store without room takes it, as it takes batches that delete more than they put. */
  readonly freesSpace?: boolean;
}

interface Addition {
  readonly key: Key;
  readonly delta: bigint;
  /** At least 0. The batch conflicts, with this key, where the sum would be larger. Without a maximum an addition never conflicts. */
  readonly max?: bigint;
}

export type Expectation =
  | { readonly kind: 'revision'; readonly key: Key; readonly revision: Revision }
  | { readonly kind: 'absent'; readonly key: Key };

export type Outcome =
  | { readonly kind: 'committed'; readonly revision: Revision }
  /** `key` is that of the first expectation that did not hold, or of a counter above its maximum. Nothing was changed. */
  | { readonly kind: 'conflict'; readonly key: Key }
  /** The acknowledgement was lost: call `outcome`. */
  | { readonly kind: 'unknown' };

export interface Collapse {
  readonly prefix: Buffer;
  readonly delimiter: Buffer;
}

/**
 * Returns the group of a key in a collapsing scan: its bytes up to and including the first delimiter after the prefix. The delimiter
 * counts only within the part that the prefix ends in: a later part, such as a version's random bytes, is not searched. Returns
 * undefined for a key without a group.
 */
export function groupOf(key: Buffer, collapse: Collapse): Buffer | undefined {
  const end = endOfGroup(key, 0, key.length, collapse);
  return end === undefined ? undefined : key.subarray(0, end);
}

/**
 * Returns the end of that group's name in a key that lies in `bytes` from `start` to `end`. This is a loop because keys are short: a
 * call of `indexOf` or `compare` costs as much as a loop over a hundred bytes.
 */
export function endOfGroup(
  bytes: Uint8Array,
  start: number,
  end: number,
  { prefix, delimiter }: Collapse,
): number | undefined {
  const { length } = delimiter;
  const from = start + prefix.length;
  if (length === 0 || from + length > end) return undefined;
  // Compares backwards: neighbouring keys differ at their end.
  for (let at = prefix.length - 1; at >= 0; at -= 1) if (bytes[start + at] !== prefix[at]) return undefined;
  const first = delimiter[0];
  for (let at = from; at + length <= end; at += 1) {
    const byte = bytes[at];
    if (byte === first && isAt(bytes, at, delimiter)) return at + length;
    // `keys.ts` ends a part with these two bytes.
    if (byte === 0x00 && at + 1 < end && bytes[at + 1] === 0xfe) return undefined;
  }
  return undefined;
}

function isAt(bytes: Uint8Array, at: number, delimiter: Buffer): boolean {
  for (let index = 1; index < delimiter.length; index += 1) {
    if (bytes[at + index] !== delimiter[index]) return false;
  }
  return true;
}

/** Scans any engine in pages. An engine without `scanPages` gives pages of one item. */
export function scanPages(records: RecordStore, range: ScanRange): AsyncIterable<readonly ScanItem[]> {
  return records.scanPages?.(range) ?? onePerPage(records.scan(range));
}

async function* onePerPage(items: AsyncIterable<ScanItem>): AsyncIterable<readonly ScanItem[]> {
  for await (const item of items) yield [item];
}

export function closed(store: 'record' | 'blob'): StoreError {
  return new StoreError('closed', `the ${store} store is closed`);
}
