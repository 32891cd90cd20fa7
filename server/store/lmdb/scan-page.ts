import type { Database, RootDatabase } from 'lmdb';
import { groupOf } from '../collapse.ts';
import { after, endOf, KEY_LIMIT } from '../keys.ts';
import type { Key, ScanItem, ScanRange } from '../record-store.ts';
import { decodeStored, type StoredRecord } from './stored-value.ts';

/** A page is read in one go on one snapshot, so neither a scan's reader grows old nor does one scan hold up the thread. */
const PAGE_ITEMS = 256;
const PAGE_BYTES = 1024 * 1024;
/** Stepping over so many keys of a group costs less than a new cursor. */
const STEPS_BEFORE_SEEK = 8;

interface Page {
  readonly items: readonly ScanItem[];
  /** Where the next page begins (its exclusive end when scanning in reverse); undefined after the last. */
  readonly next: Key | undefined;
}

/** The records again, decoded as a scan comes by them: lmdb-js would make two buffers of each before it gave it out. */
export function openForScans(root: RootDatabase<Buffer, Buffer>): Database<StoredRecord, Buffer> {
  // lmdb-js takes it and its types do not know it.
  const decoding = {
    encoder: {
      encode: () => {
        throw new Error('scans do not write');
      },
      decode: (stored: Uint8Array, size: number) => decodeStored(stored, size),
    },
  };
  return root.openDB<StoredRecord, Buffer>({ name: 'records', keyEncoding: 'binary', cache: false, ...decoding });
}

export function readPage(records: Database<StoredRecord, Buffer>, range: ScanRange, limit: number): Page {
  if (range.reverse !== true)
    return range.collapse === undefined ? readEntries(records, range, limit) : readGroups(records, range, limit);
  if (range.collapse !== undefined) throw new RangeError('a collapsing scan only goes forwards');
  return readEntries(records, range, limit);
}

function readEntries(records: Database<StoredRecord, Buffer>, range: ScanRange, limit: number): Page {
  const reverse = range.reverse === true;
  const items: ScanItem[] = [];
  let bytes = 0;
  for (const { key, value } of rangeOf(records, range, Math.min(limit, PAGE_ITEMS))) {
    items.push({ kind: 'entry', key, ...value });
    bytes += value.value.length;
    if (items.length === PAGE_ITEMS || bytes >= PAGE_BYTES) return { items, next: reverse ? key : after(key) };
  }
  return { items, next: undefined };
}

function readGroups(records: Database<StoredRecord, Buffer>, range: ScanRange, limit: number): Page {
  const items: ScanItem[] = [];
  let bytes = 0;
  let start: Key | undefined = range.start;
  while (start !== undefined) {
    const from: Key = start;
    start = undefined;
    let group: Buffer | undefined;
    let steps = 0;
    for (const { key, value } of rangeOf(records, { ...range, start: from })) {
      if (group !== undefined && startsWith(key, group)) {
        steps += 1;
        if (steps < STEPS_BEFORE_SEEK) continue;
        start = endOf(group);
        break;
      }
      // Asked before the item that would be too many, so that the next page begins after a whole group.
      if (items.length >= limit || items.length >= PAGE_ITEMS || bytes >= PAGE_BYTES) return { items, next: key };
      steps = 0;
      group = range.collapse && groupOf(key, range.collapse);
      bytes += value.value.length;
      items.push(group === undefined ? { kind: 'entry', key, ...value } : { kind: 'group', prefix: group });
    }
  }
  return { items, next: undefined };
}

/** lmdb-js starts a range in reverse at its upper bound. */
function rangeOf(records: Database<StoredRecord, Buffer>, range: ScanRange, limit?: number) {
  const bounds = limit === undefined ? {} : { limit };
  const start = atLeastOneByte(range.start);
  const end = atMostAKey(range.end);
  if (start.compare(end) >= 0) return [];
  return range.reverse === true
    ? records.getRange({ ...bounds, reverse: true, start: end, exclusiveStart: true, end: start, inclusiveEnd: true })
    : records.getRange({ ...bounds, start, end });
}

/** LMDB has no empty key, and none before this one. */
function atLeastOneByte(bound: Buffer): Buffer {
  return bound.length === 0 ? Buffer.of(0) : bound;
}

/** A bound longer than every key is cut, which no key can tell: but not so that a key of the full length falls out. */
function atMostAKey(bound: Buffer): Buffer {
  return bound.length > KEY_LIMIT + 1 ? bound.subarray(0, KEY_LIMIT + 1) : bound;
}

function startsWith(bytes: Buffer, prefix: Buffer): boolean {
  return bytes.length >= prefix.length && bytes.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
}
