import { after, endOf, KEY_LIMIT } from '../keys.ts';
import type { Key, ScanItem, ScanRange } from '../record-store.ts';
import { bigint, readBigint } from './binary-arrays.ts';
import type { Row, Statement } from './postgres-connection.ts';
import { collapsingPageStatement, pageStatement, reversePageStatement } from './read-statements.ts';

/** A page is one round trip, and what a scan holds in memory; one value more than the bytes may come. */
const PAGE_ITEMS = 1000;
const PAGE_BYTES = 1024 * 1024;

export interface Page {
  readonly items: readonly ScanItem[];
  /** Where the next page begins (its exclusive end when scanning in reverse); undefined after the last. */
  readonly next: Key | undefined;
}

export type Read = (statement: Statement, values: readonly Buffer[]) => Promise<readonly Row[]>;

export async function* scanPages(read: Read, range: ScanRange): AsyncIterable<ScanItem> {
  if (range.reverse === true && range.collapse !== undefined) {
    throw new RangeError('a collapsing scan only goes forwards');
  }
  let { start, end } = range;
  for (let left = range.limit ?? Infinity; left > 0;) {
    const page = await readPage(read, { ...range, start, end }, Math.min(left, PAGE_ITEMS));
    yield* page.items;
    left -= page.items.length;
    if (page.next === undefined) return;
    if (range.reverse === true) end = page.next;
    else start = page.next;
  }
}

async function readPage(read: Read, range: ScanRange, limit: number): Promise<Page> {
  if (range.start.compare(range.end) >= 0) return { items: [], next: undefined };
  const bounds = [range.start, range.end, bigint(limit), bigint(PAGE_BYTES)];
  const { collapse } = range;
  if (collapse !== undefined && collapse.delimiter.length > 0) {
    const { prefix, delimiter } = collapse;
    const rows = await read(collapsingPageStatement, [...bounds, prefix, delimiter, endOfDelimited(delimiter)]);
    const next = isLast(rows, limit) ? undefined : rows.at(-1)?.[4];
    return { items: rows.map(groupOrEntry), next: next ?? undefined };
  }
  const rows = await read(range.reverse === true ? reversePageStatement : pageStatement, bounds);
  const last = isLast(rows, limit) ? undefined : rows.at(-1)?.[0];
  return { items: rows.map(entryItem), next: last ? (range.reverse === true ? last : after(last)) : undefined };
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
