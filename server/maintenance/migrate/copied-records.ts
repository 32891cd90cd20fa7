import { endOf, key, prefixOf } from '../../store/keys.ts';
import type { Entry, RecordStore } from '../../store/record-store.ts';
import { entries } from '../verify/object-records.ts';
import { shownKey } from '../verify/finding.ts';

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
function copiedRecords(records: RecordStore): AsyncGenerator<Entry> {
  return outside(records, ofAPlace);
}

/** Whether a record of the source must be in the copy. */
function mustBeCopied(recordKey: Buffer): boolean {
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

/** In what the records of a copy differ from those of its source: nothing, unless somebody changed one of them meanwhile. */
export async function* compareRecords(source: RecordStore, copy: RecordStore): AsyncGenerator<string> {
  const [left, right] = [copiedRecords(source), copiedRecords(copy)];
  try {
    let [one, other] = [await next(left), await next(right)];
    while (one !== undefined || other !== undefined) {
      const order = one === undefined ? 1 : other === undefined ? -1 : one.key.compare(other.key);
      if (order < 0 && one !== undefined) {
        if (mustBeCopied(one.key)) yield `record ${shownKey(one.key)} is not in the copy`;
        one = await next(left);
      } else if (order > 0 && other !== undefined) {
        yield `record ${shownKey(other.key)} is in the copy, and not in the source any more`;
        other = await next(right);
      } else if (one !== undefined && other !== undefined) {
        if (!one.value.equals(other.value)) yield `record ${shownKey(one.key)} was changed since it was copied`;
        [one, other] = [await next(left), await next(right)];
      }
    }
  } finally {
    await left.return(undefined);
    await right.return(undefined);
  }
}

async function next(records: AsyncGenerator<Entry>): Promise<Entry | undefined> {
  const { done, value } = await records.next();
  return done === true ? undefined : value;
}
