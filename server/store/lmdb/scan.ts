import type { Database, RootDatabase } from 'lmdb';
import { type Collapse, endOfGroup, type Entry, type Key, type ScanItem, type ScanRange } from '../record-store.ts';
import { type RecordTables, asBuffer, partsOf, REVISION_BYTES, revisionOf } from './record-tables.ts';
import { after, endOf, KEY_LIMIT } from '../keys.ts';

/** Bytes of entries that share one piece of memory, which lives as long as one of them. */
const BLOCK_BYTES = 32 * 1024;

/**
 * The records again, for scans. Of each record lmdb-js would make a buffer for its key and one for its value before it gave them
 * out: 2.9 µs of processor time, where going on to the next record is 0.4. Here nothing is made until somebody wants the entry
 * that the scan is at, and entries are copied side by side into blocks: 1.0 µs with both.
 */
export class ScanHandle {
  readonly #records: Database<unknown, Buffer>;
  readonly #tables: RecordTables;
  /** Memory of lmdb-js that the next step writes over. */
  #key: Buffer = Buffer.alloc(0);
  #keyStart = 0;
  #keyEnd = 0;
  #stored: Uint8Array = this.#key;
  #size = 0;
  #block: Buffer = this.#key;
  #used = 0;

  constructor(root: RootDatabase<Buffer, Buffer>, tables: RecordTables) {
    this.#tables = tables;
    // lmdb-js takes both and its types do not know them.
    const coding = {
      keyEncoder: {
        writeKey: (key: Buffer, target: Uint8Array, start: number) => {
          target.set(key, start);
          return start + key.length;
        },
        readKey: (source: Buffer, start: number, end: number) => {
          this.#key = source;
          this.#keyStart = start;
          this.#keyEnd = end;
        },
      },
      encoder: {
        encode: () => {
          throw new Error('scans do not write');
        },
        decode: (stored: Uint8Array, size: number) => {
          this.#stored = stored;
          this.#size = size;
        },
      },
    };
    this.#records = root.openDB<unknown, Buffer>({ name: 'records', cache: false, ...coding });
  }

  /** Steps through a range; at each step the methods below tell of the record that it is at. To be used up within one turn. */
  range(options: {
    readonly start: Buffer;
    readonly end: Buffer;
    readonly limit?: number;
    readonly reverse?: boolean;
    readonly exclusiveStart?: boolean;
    readonly inclusiveEnd?: boolean;
  }): Iterable<unknown> {
    return this.#records.getRange(options);
  }

  /** Whether the key begins with this. */
  startsWith(prefix: Buffer): boolean {
    const start = this.#keyStart;
    const length = prefix.length;
    if (this.#keyEnd - start < length) return false;
    // From behind: keys that stand beside each other differ there. Short enough that a call out of JavaScript costs more.
    for (let at = length - 1; at >= 0; at -= 1) if (this.#key[start + at] !== prefix[at]) return false;
    return true;
  }

  /** A copy of the record. Once for each step: of a large record, what it is read with is the memory of the key. */
  entry(): Entry {
    const keyLength = this.#keyEnd - this.#keyStart;
    const record = asBuffer(this.#stored, this.#size);
    const revision = revisionOf(record);
    const parts = partsOf(record);
    const size = keyLength + (parts?.length ?? this.#size - REVISION_BYTES);
    const at = this.#room(size);
    const block = this.#block;
    this.#key.copy(block, at, this.#keyStart, this.#keyEnd);
    const value = block.subarray(at + keyLength, at + size);
    const copied = record.copy(value, 0, parts?.start ?? REVISION_BYTES, this.#size);
    if (parts !== undefined) this.#tables.copyPieces(parts, value, copied);
    return { key: block.subarray(at, at + keyLength), value, revision };
  }

  /** A copy of the key. */
  key(): Buffer {
    return this.#keyUpTo(this.#keyEnd);
  }

  /** The name of the group that the record belongs to; undefined when it belongs to none. */
  group(collapse: Collapse): Buffer | undefined {
    const end = endOfGroup(this.#key, this.#keyStart, this.#keyEnd, collapse);
    return end === undefined ? undefined : this.#keyUpTo(end);
  }

  #keyUpTo(end: number): Buffer {
    const copy = Buffer.allocUnsafe(end - this.#keyStart);
    this.#key.copy(copy, 0, this.#keyStart, end);
    return copy;
  }

  /** Where in the block there is room: never given out again, so that entries are their holder's own. */
  #room(size: number): number {
    if (this.#used + size > this.#block.length) {
      this.#block = Buffer.allocUnsafeSlow(Math.max(size, BLOCK_BYTES));
      this.#used = 0;
    }
    const at = this.#used;
    this.#used += size;
    return at;
  }
}

/**
 * A page is read in one go on one snapshot, so neither a scan's reader grows old nor does one scan hold up the thread. So many small
 * records take half a millisecond; a page of a listing, and the one entry that tells whether there is more, is one of them.
 */
const PAGE_ITEMS = 1024;
const PAGE_BYTES = 1024 * 1024;
/** A new cursor costs as much as stepping over so many keys of a group. */
const STEPS_BEFORE_SEEK = 8;
/** Where one group was large, so are its neighbours, mostly. */
const STEPS_AFTER_SEEK = 2;

interface Page {
  readonly items: readonly ScanItem[];
  /** Where the next page begins (its exclusive end when scanning in reverse); undefined after the last. */
  readonly next: Key | undefined;
}

export function readPage(records: ScanHandle, range: ScanRange, limit: number): Page {
  if (range.reverse !== true)
    return range.collapse === undefined ? readEntries(records, range, limit) : readGroups(records, range, limit);
  if (range.collapse !== undefined) throw new RangeError('a collapsing scan only goes forwards');
  return readEntries(records, range, limit);
}

function readEntries(records: ScanHandle, range: ScanRange, limit: number): Page {
  const reverse = range.reverse === true;
  const items: ScanItem[] = [];
  let bytes = 0;
  for (const _ of rangeOf(records, range, Math.min(limit, PAGE_ITEMS))) {
    const item = entryItem(records);
    items.push(item);
    bytes += item.value.length;
    if (items.length === PAGE_ITEMS || bytes >= PAGE_BYTES) {
      return { items, next: reverse ? item.key : after(item.key) };
    }
  }
  return { items, next: undefined };
}

function readGroups(records: ScanHandle, range: ScanRange, limit: number): Page {
  const items: ScanItem[] = [];
  let bytes = 0;
  let start: Key | undefined = range.start;
  let stepsBeforeSeek = STEPS_BEFORE_SEEK;
  while (start !== undefined) {
    const from: Key = start;
    start = undefined;
    let group: Buffer | undefined;
    let steps = 0;
    for (const _ of rangeOf(records, { ...range, start: from })) {
      if (group !== undefined && records.startsWith(group)) {
        steps += 1;
        if (steps < stepsBeforeSeek) continue;
        start = endOf(group);
        stepsBeforeSeek = STEPS_AFTER_SEEK;
        break;
      }
      // Asked before the item that would be too many, so that the next page begins after a whole group.
      if (items.length >= limit || items.length >= PAGE_ITEMS || bytes >= PAGE_BYTES) {
        return { items, next: records.key() };
      }
      if (group !== undefined) stepsBeforeSeek = STEPS_BEFORE_SEEK;
      steps = 0;
      group = range.collapse && records.group(range.collapse);
      if (group !== undefined) {
        items.push({ kind: 'group', prefix: group });
        continue;
      }
      const item = entryItem(records);
      items.push(item);
      bytes += item.value.length;
    }
  }
  return { items, next: undefined };
}

function entryItem(records: ScanHandle) {
  const { key, value, revision } = records.entry();
  return { kind: 'entry', key, value, revision } as const;
}

/** lmdb-js starts a range in reverse at its upper bound. */
function rangeOf(records: ScanHandle, range: ScanRange, limit?: number): Iterable<unknown> {
  const bounds = limit === undefined ? {} : { limit };
  const start = atLeastOneByte(range.start);
  const end = atMostAKey(range.end);
  if (start.compare(end) >= 0) return [];
  return range.reverse === true
    ? records.range({ ...bounds, reverse: true, start: end, exclusiveStart: true, end: start, inclusiveEnd: true })
    : records.range({ ...bounds, start, end });
}

/** LMDB has no empty key, and none before this one. */
function atLeastOneByte(bound: Buffer): Buffer {
  return bound.length === 0 ? Buffer.of(0) : bound;
}

/** A bound longer than every key is cut, which no key can tell: but not so that a key of the full length falls out. */
function atMostAKey(bound: Buffer): Buffer {
  return bound.length > KEY_LIMIT + 1 ? bound.subarray(0, KEY_LIMIT + 1) : bound;
}
