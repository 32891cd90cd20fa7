import { groupOfEvent, queuedAt } from '../objects/events/outbox.ts';
import { endOf, prefixOf, within, decodeKey } from '../store/keys.ts';
import { type Entry, type Key, type RecordStore, scanPages, type ScanRange } from '../store/record-store.ts';

/** Queued events of several objects. */
interface QueueWindow {
  /** The events of each object, in the order of its revisions. */
  readonly groups: readonly (readonly Entry[])[];
  /** The start of the next window. Undefined where this one reached the end of the queue. */
  readonly next: Key | undefined;
}

/**
 * Reads about `limit` events from `from` on, all of an object together, so that they can be delivered in order.
 *
 * A page of a scan is a snapshot. Where the range is one page, it is read once; its last object may have more events behind the page, and begins the next
 * window. Several pages are not a snapshot: they may miss an event and have a later one of the same object, which was committed meanwhile. So they are read
 * twice, as an object is that fills a page alone. The second scan sees every event that is older than one of the first scan, and only those up to the
 * newest event of the first scan are returned.
 */
export async function readWindow(
  records: RecordStore,
  target: string,
  { from, limit }: { readonly from: Key | undefined; readonly limit: number },
): Promise<QueueWindow> {
  const queue = within('outbox', target);
  const start = from ?? queue.start;
  const newest = new Map<string, number>();
  const read: Entry[] = [];
  let pages = 0;
  for await (const page of scanPages(records, { start, end: queue.end, limit })) {
    pages += 1;
    for (const item of page) if (item.kind === 'entry') read.push(item);
  }
  const last = read.at(-1);
  if (last === undefined) return { groups: [], next: undefined };
  const next = read.length < limit ? undefined : endOfGroup(target, last.key);
  if (pages === 1) {
    if (next === undefined) return { groups: grouped(read), next };
    const lastGroup = groupOfEvent(last.key);
    const whole = read.filter(({ key }) => groupOfEvent(key) !== lastGroup);
    if (whole.length > 0) return { groups: grouped(whole), next: prefixOf('outbox', target, groupPartOf(last.key)) };
  }
  for (const entry of read) {
    const group = groupOfEvent(entry.key);
    newest.set(group, Math.max(newest.get(group) ?? 0, entry.revision));
  }
  const groups = new Map<string, Entry[]>();
  for await (const entry of entries(records, { start, end: next ?? queue.end })) {
    const group = groupOfEvent(entry.key);
    if (entry.revision > (newest.get(group) ?? 0)) continue;
    const known = groups.get(group);
    if (known === undefined) groups.set(group, [entry]);
    // An object that is written again and again may have more events than memory.
    else if (known.push(entry) >= 2 * limit) {
      const oldest = inOrder(known).slice(0, limit);
      groups.set(group, oldest);
      // An event that is left out must not be followed by a newer one.
      newest.set(group, oldest.at(-1)?.revision ?? 0);
    }
  }
  return { groups: oldestFirst([...groups.values()]), next };
}

/** Reads about `limit` events of the object of an event that follow it, in the order of their revisions. The object is read twice, as in a window. */
export async function readBehind(
  records: RecordStore,
  target: string,
  { last, limit }: { readonly last: Entry; readonly limit: number },
): Promise<readonly Entry[]> {
  const start = prefixOf('outbox', target, groupPartOf(last.key));
  const range = { start, end: endOf(start) };
  let newest = 0;
  for await (const { revision } of entries(records, range)) newest = Math.max(newest, revision);
  let found: Entry[] = [];
  for await (const entry of entries(records, range)) {
    if (entry.revision <= last.revision || entry.revision > newest) continue;
    if (found.push(entry) < 2 * limit) continue;
    found = inOrder(found).slice(0, limit);
    newest = found.at(-1)?.revision ?? newest;
  }
  return inOrder(found);
}

function grouped(events: readonly Entry[]): readonly (readonly Entry[])[] {
  return oldestFirst([...Map.groupBy(events, ({ key }) => groupOfEvent(key)).values()]);
}

function oldestFirst(groups: readonly (readonly Entry[])[]): readonly (readonly Entry[])[] {
  return groups.map(inOrder).sort(([a], [b]) => (a?.revision ?? 0) - (b?.revision ?? 0));
}

function inOrder(events: readonly Entry[]): Entry[] {
  return events.toSorted((a, b) => a.revision - b.revision);
}

function endOfGroup(target: string, last: Key): Key {
  return endOf(prefixOf('outbox', target, groupPartOf(last)));
}

function groupPartOf(event: Key): Buffer {
  return decodeKey(event)[2] ?? Buffer.alloc(0);
}

async function* entries(records: RecordStore, range: ScanRange): AsyncGenerator<Entry> {
  for await (const page of scanPages(records, range)) {
    for (const item of page) if (item.kind === 'entry') yield item;
  }
}

/** The size of a queue. */
export interface QueueSize {
  readonly events: number;
  /** Bytes of keys and values. */
  readonly bytes: number;
  /** The time of the oldest event, in milliseconds since 1970. */
  readonly oldest?: number;
}

/** Counts a queue. It reads all of it. */
export async function measureQueue(records: RecordStore, target: string, signal: AbortSignal): Promise<QueueSize> {
  let [events, bytes, oldest] = [0, 0, Infinity];
  for await (const entry of entries(records, within('outbox', target))) {
    signal.throwIfAborted();
    events += 1;
    bytes += entry.key.length + entry.value.length;
    oldest = Math.min(oldest, queuedAt(entry.key));
  }
  return { events, bytes, ...(events > 0 && { oldest }) };
}

/** Lists the targets that have queued events. */
export async function queuedTargets(records: RecordStore): Promise<readonly string[]> {
  const { start: first, end } = within('outbox');
  const targets: string[] = [];
  for (let start: Key | undefined = first; start !== undefined;) {
    let found: string | undefined;
    for await (const { key } of entries(records, { start, end, limit: 1 })) found = String(decodeKey(key)[1]);
    if (found !== undefined) targets.push(found);
    start = found === undefined ? undefined : endOf(prefixOf('outbox', found));
  }
  return targets;
}
