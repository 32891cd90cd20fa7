/**
 * Everything the server knows is records under ordered keys, changed by conditional batches. Nothing above this file knows which
 * engine is below.
 *
 * What an implementer owes, held by `record-store.conformance.ts` over every engine:
 * - keys are bytes, ordered as bytes; values are bytes of up to 16 MiB; keys of up to 1,900 bytes;
 * - a read sees every commit that was answered before the read began, whichever thread or replica answered it;
 * - nobody reads what is not durable yet, and a commit answered `committed` survives a power cut;
 * - a commit is all or nothing, and its expectations hold at the moment it takes effect (no write skew between two batches that
 *   expect a key the other one changes);
 * - the revision of a key grows with every change of it, also across its deletion.
 */
export interface RecordStore {
  get(key: Key): Promise<Entry | undefined>;

  /** The entries of several keys as they were at one moment, in the order asked for: one round trip where the engine is elsewhere. */
  getAll(keys: readonly Key[]): Promise<readonly (Entry | undefined)[]>;

  /** Entries in the order of their keys. Not a snapshot: a long scan may see changes made after it began. */
  scan(range: ScanRange): AsyncIterable<ScanItem>;

  /** The same by the page, for engines that have many records at once: a promise for each costs as much as reading it. */
  scanPages?(range: ScanRange): AsyncIterable<readonly ScanItem[]>;

  commit(batch: Batch): Promise<Outcome>;

  /**
   * Whether the commit with this id took effect; asked after `unknown`. Only answered for commits of the last hour.
   * `not-committed` is final: a commit still on its way then can no longer take effect.
   */
  outcome(id: CommitId): Promise<'committed' | 'not-committed'>;

  /** Free and total bytes of what holds the records, where that can be told. */
  space?(): Promise<{ readonly free: number; readonly total: number } | undefined>;

  /**
   * Copies all records, as they are at one moment, into a folder that it makes; durable when it resolves. Only engines on this
   * machine's disk can: their copy is opened as they are.
   */
  backup?(folder: string): Promise<void>;

  close(): Promise<void>;
}

/** A key made by `key()` of `keys.ts`, or a bound made by `prefixOf()`/`after()`. */
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

/** Made by the caller, random, 16 bytes in hexadecimal: it recognises its own commit after a lost acknowledgement. */
export type CommitId = string;

export interface Batch {
  readonly id: CommitId;
  readonly expect?: readonly Expectation[];
  readonly put?: readonly { readonly key: Key; readonly value: Buffer }[];
  readonly delete?: readonly Key[];
  /** Counters, 64-bit signed, big-endian in the value; an absent key counts as 0. Adding commutes and conflicts with nothing. */
  readonly add?: readonly { readonly key: Key; readonly delta: bigint }[];
}

export type Expectation =
  | { readonly kind: 'revision'; readonly key: Key; readonly revision: Revision }
  | { readonly kind: 'absent'; readonly key: Key };

export type Outcome =
  | { readonly kind: 'committed'; readonly revision: Revision }
  /** The first expectation that did not hold; nothing was changed. */
  | { readonly kind: 'conflict'; readonly key: Key }
  /** The acknowledgement was lost: ask `outcome`. */
  | { readonly kind: 'unknown' };

/** The engine cannot serve now (disk full, connection lost, closed, made read-only); nothing was changed. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  readonly reason: 'full' | 'unreachable' | 'closed' | 'read-only';
  constructor(reason: StoreUnavailable['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

export interface Collapse {
  readonly prefix: Buffer;
  readonly delimiter: Buffer;
}

/**
 * Which group a key belongs to in a collapsing scan: its bytes up to and with the first delimiter after the prefix, within the part
 * that the prefix ends in (a delimiter inside a later part, such as a version's random bytes, divides nothing). Undefined when it
 * belongs to none.
 */
export function groupOf(key: Buffer, collapse: Collapse): Buffer | undefined {
  const end = endOfGroup(key, 0, key.length, collapse);
  return end === undefined ? undefined : key.subarray(0, end);
}

/**
 * Where the name of that group ends, of a key that is these bytes from `start` to `end`. A loop, since keys are short: each call of
 * `indexOf` or `compare` costs as much as looking at a hundred bytes.
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
  // From behind: keys that stand beside each other differ there.
  for (let at = prefix.length - 1; at >= 0; at -= 1) if (bytes[start + at] !== prefix[at]) return undefined;
  const first = delimiter[0];
  for (let at = from; at + length <= end; at += 1) {
    const byte = bytes[at];
    if (byte === first && isAt(bytes, at, delimiter)) return at + length;
    // The end of a part, as `keys.ts` writes it.
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

/** Pages of a scan, of any engine: one that has none of its own gives pages of one item. */
export function scanPages(records: RecordStore, range: ScanRange): AsyncIterable<readonly ScanItem[]> {
  return records.scanPages?.(range) ?? onePerPage(records.scan(range));
}

async function* onePerPage(items: AsyncIterable<ScanItem>): AsyncIterable<readonly ScanItem[]> {
  for await (const item of items) yield [item];
}

export function closed(store: 'record' | 'blob'): StoreUnavailable {
  return new StoreUnavailable('closed', `the ${store} store is closed`);
}
