import { groupOf } from '../collapse.ts';
import { after, endOf, KEY_LIMIT } from '../keys.ts';
import type { Key, ScanItem, ScanRange } from '../record-store.ts';
import { bigint, readBigint } from './binary-arrays.ts';
import type { Row, Statement } from './postgres-connection.ts';
import { collapsingPageStatement, pageStatement, reversePageStatement } from './read-statements.ts';

/** A page is one round trip, and what a scan holds in memory; one value more than the bytes may come. */
const PAGE_ITEMS = 1000;
const PAGE_BYTES = 1024 * 1024;

type Collapse = NonNullable<ScanRange['collapse']>;

/** A page is mostly groups, or mostly not, where so many times more of one were read. */
const MOSTLY = 4;

export type Read = (statement: Statement, values: readonly Buffer[]) => Promise<readonly Row[]>;

interface Page {
  readonly items: readonly ScanItem[];
  /** Where the next page begins (its exclusive end when scanning in reverse); undefined after the last. */
  readonly next: Key | undefined;
  /** How the next page is better read: row by row, or by stepping from group to group. */
  readonly stepping: boolean;
}

export async function* scanPages(read: Read, range: ScanRange): AsyncIterable<ScanItem> {
  if (range.reverse === true && range.collapse !== undefined) {
    throw new RangeError('a collapsing scan only goes forwards');
  }
  let { start, end } = range;
  let stepping = false;
  for (let left = range.limit ?? Infinity; left > 0;) {
    if (start.compare(end) >= 0) return;
    const limit = Math.min(left, PAGE_ITEMS);
    const page = await readPage(read, { ...range, start, end }, limit, stepping);
    yield* page.items;
    left -= page.items.length;
    if (page.next === undefined) return;
    if (range.reverse === true) end = page.next;
    else start = page.next;
    ({ stepping } = page);
  }
}

async function readPage(read: Read, range: ScanRange, limit: number, stepping: boolean): Promise<Page> {
  const bounds = [range.start, range.end, bigint(limit), bigint(PAGE_BYTES)];
  const { collapse } = range;
  if (collapse !== undefined && collapse.delimiter.length > 0) {
    return stepping ? readStepping(read, bounds, collapse, limit) : readCollapsing(read, bounds, collapse, limit);
  }
  const rows = await read(range.reverse === true ? reversePageStatement : pageStatement, bounds);
  const last = isLast(rows, limit) ? undefined : rows.at(-1)?.[0];
  const next = last ? (range.reverse === true ? last : after(last)) : undefined;
  return { items: rows.map(entryItem), next, stepping: false };
}

/** Row by row, which is five times cheaper for what is in no group; what is left of the last group is skipped. */
async function readCollapsing(read: Read, bounds: Buffer[], collapse: Collapse, limit: number): Promise<Page> {
  const rows = await read(pageStatement, bounds);
  const items: ScanItem[] = [];
  let group: Buffer | undefined;
  for (const row of rows) {
    const entry = entryOf(row);
    const groupHere = groupOf(entry.key, collapse);
    if (groupHere === undefined) items.push({ kind: 'entry', ...entry });
    else if (group?.equals(groupHere) !== true) items.push({ kind: 'group', prefix: groupHere });
    group = groupHere;
  }
  const last = isLast(rows, limit) ? undefined : rows.at(-1)?.[0];
  const next = last ? (group === undefined ? after(last) : endOf(group)) : undefined;
  return { items, next, stepping: items.length * MOSTLY < rows.length };
}

/** From one item to the next by the index, which costs the same whatever a group holds. */
async function readStepping(read: Read, bounds: Buffer[], collapse: Collapse, limit: number): Promise<Page> {
  const { prefix, delimiter } = collapse;
  const rows = await read(collapsingPageStatement, [...bounds, prefix, delimiter, endOfDelimited(delimiter)]);
  const items = rows.map(groupOrEntry);
  const next = isLast(rows, limit) ? undefined : (rows.at(-1)?.[4] ?? undefined);
  const groups = items.filter(({ kind }) => kind === 'group').length;
  return { items, next, stepping: groups * MOSTLY >= items.length };
}

/** A page that neither bound ended has reached the end of its range. */
function isLast(rows: readonly Row[], limit: number): boolean {
  return rows.length < limit && rows.reduce((bytes, [, value]) => bytes + (value?.length ?? 0), 0) < PAGE_BYTES;
}

/** What follows the bytes before a delimiter in the first key after its group; more than every key where nothing but FF is in it. */
function endOfDelimited(delimiter: Buffer): Buffer {
  return delimiter.every((byte) => byte === 0xff)
    ? Buffer.alloc(delimiter.length + KEY_LIMIT + 1, 0xff)
    : endOf(delimiter);
}

function groupOrEntry(row: Row): ScanItem {
  const grouped = row[3];
  return grouped ? { kind: 'group', prefix: grouped } : entryItem(row);
}

function entryItem(row: Row): ScanItem {
  return { kind: 'entry', ...entryOf(row) };
}

/** `key`, `value`, `revision`. */
export function entryOf([key, value, revision]: Row): { key: Key; value: Buffer; revision: number } {
  if (!key || !value || !revision) throw new Error('a record came without its key, value or revision');
  return { key, value, revision: readBigint(revision) };
}
