import { endOf, key, prefixOf } from '../store/keys.ts';
import type { Entry, RecordStore } from '../store/record-store.ts';
import { entries } from './object-records.ts';

interface Range {
  readonly start: Buffer;
  readonly end: Buffer;
}

/**
 * What belongs to a place and not to the data: queues of removals, what servers say of themselves, how far a copy or a scrub came, what
 * was counted, how background tasks fare.
 */
const ofAPlace = [
  prefixOf('background'),
  prefixOf('hold'),
  prefixOf('live'),
  prefixOf('q'),
  prefixOf('scrub'),
  key('system', 'copy'),
  key('system', 'read-only'),
  prefixOf('t'),
  prefixOf('usage'),
  prefixOf('x'),
];
/** What is copied together with blobs. */
const withBlobs = [
  prefixOf('c'),
  prefixOf('i'),
  prefixOf('m'),
  prefixOf('o'),
  prefixOf('p'),
  prefixOf('r'),
  prefixOf('u'),
];
/** Of these, those that nothing refers to stay behind. */
const referredOnly = [prefixOf('c'), prefixOf('p'), prefixOf('r')];

/** The records that are copied as they are, after a key. */
export function plainRecords(records: RecordStore, after?: Buffer): AsyncGenerator<Entry> {
  return outside(records, [...ofAPlace, ...withBlobs], after);
}

/** Every record that may be in a copy. */
export function copiedRecords(records: RecordStore): AsyncGenerator<Entry> {
  return outside(records, ofAPlace);
}

/** Whether a record of the source must be in the copy. */
export function mustBeCopied(recordKey: Buffer): boolean {
  return !referredOnly.some((prefix) => recordKey.subarray(0, prefix.length).equals(prefix));
}

async function* outside(records: RecordStore, prefixes: readonly Buffer[], after?: Buffer): AsyncGenerator<Entry> {
  for (const range of gaps(prefixes)) {
    const start =
      after !== undefined && after.compare(range.start) >= 0 ? Buffer.concat([after, Buffer.of(0)]) : range.start;
    if (start.compare(range.end) < 0) yield* entries(records, { ...range, start });
  }
}

/** What lies between and around the prefixes. */
function gaps(prefixes: readonly Buffer[]): Range[] {
  let start: Buffer = Buffer.of(0);
  const ranges: Range[] = [];
  for (const prefix of prefixes.toSorted((a, b) => a.compare(b))) {
    ranges.push({ start, end: prefix });
    start = endOf(prefix);
  }
  return [...ranges, { start, end: endOf(Buffer.alloc(0)) }];
}
