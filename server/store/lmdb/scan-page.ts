import { after, endOf, KEY_LIMIT } from '../keys.ts';
import type { Key, ScanItem, ScanRange } from '../record-store.ts';
import type { ScanHandle } from './scan-handle.ts';

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

export interface Page {
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
