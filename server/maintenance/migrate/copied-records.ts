import { checkpointKey } from '../../store/checkpoint.ts';
import { momentPrefixes } from '../moment-records.ts';
import { endOf, prefixOf } from '../../store/keys.ts';
import type { Entry, RecordStore } from '../../store/record-store.ts';
import { entries } from '../verify/object-records.ts';
import { shownKey } from '../verify/issue.ts';

interface Range {
  readonly start: Buffer;
  readonly end: Buffer;
}

/** Records that are not data: those of the moment, and those of the place: removal queues, segments, promoted versions, the progress of walks and reports, and the checkpoint. */
const localPrefixes = [
  ...momentPrefixes,
  prefixOf('g'),
  prefixOf('inventory-state'),
  prefixOf('lifecycle'),
  prefixOf('outbox-dropped'),
  prefixOf('outbox-held'),
  prefixOf('outbox-held-count'),
  prefixOf('outbox-retry'),
  prefixOf('outbox-state'),
  prefixOf('promotions'),
  prefixOf('q'),
  prefixOf('scrub'),
  prefixOf('segments'),
  checkpointKey,
  prefixOf('t'),
  prefixOf('usage'),
  prefixOf('x'),
];
/** Records that are copied together with the blobs. */
const blobPrefixes = [
  prefixOf('c'),
  prefixOf('i'),
  prefixOf('l'),
  prefixOf('m'),
  prefixOf('o'),
  prefixOf('p'),
  prefixOf('r'),
  prefixOf('u'),
  prefixOf('v'),
];
/** Records of these prefixes stay behind where nothing refers to them. */
const referredPrefixes = [prefixOf('c'), prefixOf('p'), prefixOf('r')];

/** Yields the records that are copied unchanged, after a key. */
export function plainRecords(records: RecordStore, after?: Buffer): AsyncGenerator<Entry> {
  return outside(records, [...localPrefixes, ...blobPrefixes], after);
}

/** Yields every record that may be in a copy. */
function copiedRecords(records: RecordStore): AsyncGenerator<Entry> {
  return outside(records, localPrefixes);
}

/** Reports if a record of the source must be in the copy. */
function mustBeCopied(recordKey: Buffer): boolean {
  return !referredPrefixes.some((prefix) => recordKey.subarray(0, prefix.length).equals(prefix));
}

async function* outside(records: RecordStore, prefixes: readonly Buffer[], after?: Buffer): AsyncGenerator<Entry> {
  for (const range of gaps(prefixes)) {
    const start =
      after !== undefined && after.compare(range.start) >= 0 ? Buffer.concat([after, Buffer.of(0)]) : range.start;
    if (start.compare(range.end) < 0) yield* entries(records, { ...range, start });
  }
}

/** Returns the ranges between and around the prefixes. */
function gaps(prefixes: readonly Buffer[]): Range[] {
  let start: Buffer = Buffer.of(0);
  const ranges: Range[] = [];
  for (const prefix of prefixes.toSorted((a, b) => a.compare(b))) {
    ranges.push({ start, end: prefix });
    start = endOf(prefix);
  }
  return [...ranges, { start, end: endOf(Buffer.alloc(0)) }];
}

/** Yields the differences between the records of a copy and those of its source. There are none unless one of them changed meanwhile. */
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
